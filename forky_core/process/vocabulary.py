"""How events are declared.

An event is a function without a body: its name, level and fields are the decorator's and the signature's, so that the
type checker checks every call. fields.py has the types that a field can have.
"""

from __future__ import annotations

import functools
import json
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import ParamSpec

from forky_core.process.counters import count
from forky_core.process.fields import FORMS
from forky_core.process.trace import Trace

P = ParamSpec("P")
_PLAIN = re.compile(r"[\w./:@+,-]+")
"""A value that needs no quotation marks in a plain line."""


@dataclass(frozen=True, slots=True)
class EventType:
    """The declaration of one event."""

    name: str
    level: int
    meaning: str
    fields: Mapping[str, str]
    """The name of each field's type, by the field's name."""
    slow: str
    """The threshold of SLOW_AFTER that its `seconds` are compared with; "" for none."""


class EventEntry:
    """An event that happened: the message of its log record."""

    __slots__ = ("fields", "name")

    def __init__(self, name: str, fields: dict[str, object]) -> None:
        self.name = name
        self.fields = fields

    def __str__(self) -> str:
        """One line, followed by a trace if there is an exception."""
        values = [
            f"{name}={_shown(value)}" for name, value in self.fields.items() if type(value) is not Trace
        ]
        traces = [value for value in self.fields.values() if type(value) is Trace]
        below = "".join(f"\n    {line}" for trace in traces for line in trace.lines())
        return " ".join((self.name, *values)) + below

    def as_json(self) -> dict[str, object]:
        return {"event": self.name} | {
            name: [
                {"type": fault.type, "code": fault.code, "frames": list(fault.frames)}
                for fault in value.faults
            ]
            if type(value) is Trace
            else value
            for name, value in self.fields.items()
        }


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = f"{value:f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)


EVENTS: dict[str, EventType] = {}
"""All declared events, by name."""
SLOW_AFTER = {"page": 2.0, "commit": 0.5, "gateway": 60.0}
"""Seconds after which an event counts as slow and is logged as a warning. FORKY_SLOW sets them for the app."""


def event(
    name: str, level: int = logging.INFO, *, slow: str = ""
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Declare an event. Calling it counts the event and, if its logger is enabled, logs it; it never raises.

    A field that is None is left out.
    """

    def declare(described: Callable[P, None]) -> Callable[P, None]:
        annotations = described.__annotations__
        fields = {
            field: kind.removesuffix(" | None") for field, kind in annotations.items() if field != "return"
        }
        EVENTS[name] = EventType(name, level, (described.__doc__ or "").strip(), fields, slow)
        area = name.partition(".")[0]

        @functools.wraps(described)
        def record(*_: P.args, **values: P.kwargs) -> None:
            is_slow = bool(slow) and float(str(values["seconds"])) > SLOW_AFTER[slow]
            count(name, values, slow=slow if is_slow else "")
            logger, at = _logger(area), logging.WARNING if is_slow else level
            if not logger.isEnabledFor(at):
                return
            logged = entry(name, values)
            if is_slow:
                logged.fields["slow"] = True
            logger.log(at, logged, stacklevel=2)

        return record

    return declare


def entry(name: str, values: Mapping[str, object]) -> EventEntry:
    """The log entry of an event: its fields in declared order, each sanitised for its type."""
    fields = EVENTS[name].fields
    return EventEntry(
        name,
        {
            field: FORMS[kind](value)
            for field, kind in fields.items()
            if (value := values.get(field)) is not None
        },
    )


@cache
def _logger(area: str) -> logging.Logger:
    """The logger of an area, created at the first log call and not at import. It prints nothing by itself."""
    top = logging.getLogger("forky")
    if not any(isinstance(handler, logging.NullHandler) for handler in top.handlers):
        top.addHandler(logging.NullHandler())
    return logging.getLogger(f"forky.{area}")
