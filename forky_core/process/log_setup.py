"""Sets up logging for a whole process: for the app and the command line, never for a program that uses the library.

Everything that is logged in the process, by Forky or by the libraries it uses, goes to standard error through one
handler, as plain lines or as one JSON object a line. Records of other libraries are sanitised when they are created,
whichever handler they end in: their message is left out unless it is a constant of their code, and their exceptions are
logged as traces without messages (trace.py).
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import warnings
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

from forky_core.process import events
from forky_core.process.trace import place_of
from forky_core.process.vocabulary import SLOW_AFTER, EventEntry, entry

_ENTRY = "forky_entry"
LogForm = Literal["plain", "json", "off"]
LogLevel = Literal["debug", "info", "warning", "error"]


def set_up_logging(form: LogForm, level: LogLevel = "info", slow: Mapping[str, float] | None = None) -> None:
    """Log this process to standard error; `off` logs nothing. `slow` overrides thresholds of SLOW_AFTER, in seconds.

    Each call sets everything up again, and also takes over handlers that others have installed since.
    """
    SLOW_AFTER.update(slow or {})
    handler: logging.Handler = logging.NullHandler() if form == "off" else _Handler(sys.stderr)
    handler.setFormatter(_JsonLines() if form == "json" else _PlainLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for logger in list(root.manager.loggerDict.values()):
        if isinstance(logger, logging.Logger):
            take_over(logger)
    logging.getLogger("forky").setLevel(level.upper())
    logging.setLogRecordFactory(_record)
    warnings.showwarning = _warned
    threading.excepthook = _thread_failed
    sys.unraisablehook = _finalizer_failed


def take_over(logger: logging.Logger) -> None:
    """Make a logger write through the process's handler and no other."""
    logger.handlers[:] = [one for one in logger.handlers if isinstance(one, logging.NullHandler)]
    logger.propagate = True


class _Handler(logging.StreamHandler[TextIO]):
    """Writes Forky's events, and warnings of other libraries."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.WARNING or _is_ours(record.name)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Do nothing: standard error is closed or full, so there is nowhere to report the error."""


class _PlainLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created).astimezone().isoformat(" ", "milliseconds")
        return f"{at} {record.levelname:<7} {_entry_of(record)}"


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        return json.dumps({"at": at, "level": record.levelname.lower(), **_entry_of(record).as_json()})


def _is_ours(logger: str) -> bool:
    return logger == "forky" or logger.startswith("forky.")


def _record(  # noqa: PLR0917 - as the standard library calls it
    name: str,
    level: int,
    path: str,
    line: int,
    message: object,
    _arguments: Any,
    exc_info: Any,
    function: str | None = None,
    _stack: str | None = None,
    **more: Any,
) -> logging.LogRecord:
    """Make a log record that holds only what an event may hold; a record factory for the `logging` module."""
    if not isinstance(message, EventEntry):
        fields = {
            "library": name,
            "place": f"{place_of(path)}:{line}",
            "message": message if _is_constant(message, path, line) else None,
            "fault": exc_info[1] if isinstance(exc_info, tuple) else None,
        }
        message = entry("library.warned", fields)
    record = logging.LogRecord(name, level, path, line, message, (), None, function, None, **more)
    setattr(record, _ENTRY, message)
    return record


def _entry_of(record: logging.LogRecord) -> EventEntry:
    """The event of a record, even if a filter of another library (LiteLLM's) has turned its message into text."""
    event = getattr(record, _ENTRY, record.msg)
    return event if isinstance(event, EventEntry) else entry("library.warned", {"library": record.name})


def _is_constant(message: object, path: str, line: int) -> bool:
    """Whether a message is a constant of the code that logs it, placeholders included, and so reveals nothing private.

    A message that was composed, for instance by an f-string, is no constant.
    """
    frame = sys._getframe()
    while (above := frame.f_back) is not None:
        frame = above
        if frame.f_lineno == line and frame.f_code.co_filename == path:
            return isinstance(message, str) and message in frame.f_code.co_consts
    return False


def _warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Log a warning by its category and place: its message can quote private text."""
    del message, file, line  # The parameters are named as in the standard library.
    place = f"{place_of(filename)}:{lineno}"
    event = entry("library.warned", {"library": category.__name__, "place": place})
    logging.getLogger("py.warnings").warning(event)


def _thread_failed(failed: threading.ExceptHookArgs) -> None:
    if failed.exc_value is not None and not isinstance(failed.exc_value, SystemExit):
        name = failed.thread.name if failed.thread is not None else "unknown"
        events.thread_failed(thread=name, fault=failed.exc_value)


def _finalizer_failed(failed: sys.UnraisableHookArgs) -> None:
    if failed.exc_value is not None:
        events.thread_failed(thread="finalizer", fault=failed.exc_value)
