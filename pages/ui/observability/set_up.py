"""Sets up the log of the app when it starts: everything in the process writes through one handler.

Streamlit gives each of its loggers a handler of its own. `set_up_logging` takes those away that exist by then; the
patch `log_handlers` sees to loggers of modules that are imported later.
"""

from __future__ import annotations

import logging
import sys

from forky_core.process.log_setup import set_up_logging
from forky_core.process.settings import LogSettings, Settings

_TOLD_ELSEWHERE = "Uncaught app execution"
"""What Streamlit says of a page that failed; failures.py logs that with an incident number."""


def observe_process(settings: Settings) -> None:
    """Set up the log. Call it once, before the first session, when the server has installed its own handlers."""
    log = settings.log or usual_log(on_terminal=sys.stderr.isatty())
    set_up_logging(log.form, log.level, settings.slow)
    logging.getLogger("streamlit.error_util").addFilter(_is_news)


def usual_log(*, on_terminal: bool) -> LogSettings:
    """What is logged where FORKY_LOG is not set.

    A person at a terminal reads Forky's address there and is told of warnings alone; a service's log gets everything.
    """
    return LogSettings(level="warning" if on_terminal else "info")


def _is_news(record: logging.LogRecord) -> bool:
    return getattr(record.msg, "fields", {}).get("message") != _TOLD_ELSEWHERE
