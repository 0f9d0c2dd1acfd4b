"""How an event is declared, and what its fields may hold.

An event is a function without a body: its name, level and fields are the decorator's and the signature's, so that the
type checker reads every call. fields.py has the types that a field can have.
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

from forky_core.observability.counters import count
from forky_core.observability.fields import FORMS
from forky_core.observability.trace import Trace

P = ParamSpec("P")
_PLAIN = re.compile(r"[\w./:@+,-]+")
"""What needs no quotation marks in a plain line."""


@dataclass(frozen=True, slots=True)
class EventType:
    """One word of the vocabulary."""

    name: str
    level: int
    meaning: str
    fields: Mapping[str, str]
    """By name, the name of the type."""
    slow: str
    """Which threshold of SLOW_AFTER its `seconds` are measured by; "": none."""


class EventEntry:
    """An event that happened: the message of its log record."""

    __slots__ = ("fields", "name")

    def __init__(self, name: str, fields: dict[str, object]) -> None:
        self.name = name
        self.fields = fields

    def __str__(self) -> str:
        """One line, and a trace below it."""
        said = [f"{name}={_shown(value)}" for name, value in self.fields.items() if type(value) is not Trace]
        traces = [value for value in self.fields.values() if type(value) is Trace]
        below = "".join(f"\n    {line}" for trace in traces for line in trace.lines())
        return " ".join((self.name, *said)) + below

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
"""The vocabulary, by name."""
SLOW_AFTER = {"page": 2.0, "commit": 0.5, "gateway": 60.0}
"""Seconds after which an event counts as slow: it is logged as a warning then. FORKY_SLOW sets it for the app."""


def event(
    name: str, level: int = logging.INFO, *, slow: str = ""
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Declare an event. Calling it counts it and, where its logger is listened to, logs it; it never raises.

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
        def happened(*_: P.args, **given: P.kwargs) -> None:
            is_slow = bool(slow) and float(str(given["seconds"])) > SLOW_AFTER[slow]
            count(name, given, slow=slow if is_slow else "")
            logger, at = _logger(area), logging.WARNING if is_slow else level
            if not logger.isEnabledFor(at):
                return
            said = entry(name, given)
            if is_slow:
                said.fields["slow"] = True
            logger.log(at, said, stacklevel=2)

        return happened

    return declare


def entry(name: str, given: Mapping[str, object]) -> EventEntry:
    """What is logged of an event: its fields in their order, each in the form of its type."""
    fields = EVENTS[name].fields
    return EventEntry(
        name,
        {
            field: FORMS[kind](value)
            for field, kind in fields.items()
            if (value := given.get(field)) is not None
        },
    )


@cache
def _logger(area: str) -> logging.Logger:
    """Made when something is logged and not at import; whoever wants to see it adds a handler."""
    top = logging.getLogger("forky")
    if not any(isinstance(handler, logging.NullHandler) for handler in top.handlers):
        top.addHandler(logging.NullHandler())
    return logging.getLogger(f"forky.{area}")
