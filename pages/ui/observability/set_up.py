"""What the app asks for as it starts: where the log goes, and that runs of pages are measured.

Streamlit gives each of its loggers a handler of its own, also those of modules that are imported later; here they all
write through the one of the process (forky_core/observability/log_setup.py).
"""

from __future__ import annotations

import logging
import sys

from streamlit import logger as streamlit_logger

from forky_core.observability.log_setup import set_up_logging, take_over
from forky_core.settings import LogSettings, Settings
from pages.ui.observability.runs import measure_runs

_SET_UP = "setup_formatter"
_TOLD_ELSEWHERE = "Uncaught app execution"
"""What Streamlit says of a page that failed; failures.py logs that with an incident number."""


def observe_process(settings: Settings) -> None:
    """Once, before the first session, when the server has installed its own handlers."""
    log = settings.log or usual_log(on_terminal=sys.stderr.isatty())
    set_up_logging(log.form, log.level, settings.slow)
    for logger in streamlit_logger._loggers.values():
        take_over(logger)
    setattr(streamlit_logger, _SET_UP, take_over)
    streamlit_logger.get_logger("streamlit.error_util").addFilter(_is_news)
    measure_runs()


def usual_log(*, on_terminal: bool) -> LogSettings:
    """What is logged where FORKY_LOG is not set.

    A person at a terminal reads Forky's address there and is told of warnings alone; a service's log gets everything.
    """
    return LogSettings(level="warning" if on_terminal else "info")


def _is_news(record: logging.LogRecord) -> bool:
    return getattr(record.msg, "fields", {}).get("message") != _TOLD_ELSEWHERE
