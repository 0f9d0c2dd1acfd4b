"""Tracebacks of exceptions without their messages.

The message of an exception can quote a prompt, a key or a path: a provider echoes what it refuses, a parser shows the
line it failed on. So a trace holds types, numbers and code locations of the whole chain of exceptions, and no message,
not even of Forky's own errors: those name branches and titles.
"""

from __future__ import annotations

import errno
import sysconfig
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FIRST, _LAST = 8, 32
"""How many frames of a deep stack are logged, from its outer and its inner end."""
_MOST = 8
"""How many exceptions of a chain are logged at most."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One exception of a chain."""

    type: str
    code: str
    """Its errno ("ENOSPC") or HTTP status; "" if it has none."""
    frames: tuple[str, ...]
    """Outermost first: "forky_core/store/duckdb/store.py:120 DuckDBStore.commit"."""

    def __str__(self) -> str:
        return f"{self.type} ({self.code})" if self.code else self.type


@dataclass(frozen=True, slots=True)
class Trace:
    """An exception and its causes."""

    faults: tuple[Fault, ...]
    """The exception itself first, then its causes."""

    def lines(self) -> Iterator[str]:
        for fault in self.faults:
            yield str(fault)
            yield from (f"  {frame}" for frame in fault.frames)


def trace_of(error: BaseException) -> Trace:
    return Trace(tuple(_fault(link) for link in _chain(error)))


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception and its causes, each once, at most `_MOST`."""
    visited: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting and len(visited) < _MOST:
        link = waiting.pop(0)
        if link is None or any(link is earlier for earlier in visited):
            continue
        visited.append(link)
        yield link
        context = None if link.__suppress_context__ else link.__context__
        members = link.exceptions if isinstance(link, BaseExceptionGroup) else ()
        waiting += [link.__cause__ or context, *members]


def _fault(error: BaseException) -> Fault:
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    frames = [
        f"{place_of(frame.f_code.co_filename)}:{line} {frame.f_code.co_qualname}"
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    if len(frames) > _FIRST + _LAST:
        left_out = f"… {len(frames) - _FIRST - _LAST} frames …"
        frames = [*frames[:_FIRST], left_out, *frames[-_LAST:]]
    return Fault(name, _code(error), tuple(frames))


def _code(error: BaseException) -> str:
    number, status = getattr(error, "errno", None), getattr(error, "status_code", None)
    if type(number) is int:
        return errno.errorcode.get(number, str(number))
    return str(status) if type(status) is int else ""


@cache
def place_of(file: str) -> str:
    """A code file's path relative to Forky, its package or the standard library, since absolute paths name people."""
    path = Path(file)
    roots = (Path(__file__).parents[2], sysconfig.get_path("purelib"), sysconfig.get_path("stdlib"))
    inside = [path.relative_to(root) for root in roots if path.is_relative_to(root)]
    short = min(inside, key=lambda found: len(found.parts), default=Path(path.name))
    parts = short.parts
    return "/".join(parts[parts.index("site-packages") + 1 :] if "site-packages" in parts else parts)
