"""Which files a call runs through, in the order in which it first enters them.

Every call of a function of this checkout counts, in each thread by itself. A file that is only imported does not count,
nor does a method that a dataclass generates, nor a generator that goes on.
"""

from __future__ import annotations

import dis
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

CHECKOUT = Path(__file__).resolve().parents[2]
TOPS = ("app.py", "forky_core/", "pages/")


def room_of(file: str) -> str:
    """The first-level folder or file of `forky_core` that a file belongs to; above it, `pages` or `app.py`."""
    top, *rest = file.split("/")
    return rest[0] if top == "forky_core" else top


@dataclass(slots=True)
class Trace:
    """What was called while it was open."""

    until: str = ""
    """A function, as `file:name`, whose call is the last that counts; "" if all calls do."""
    files: list[str] = field(default_factory=list)
    """In the order of the first call of each."""
    changes: int = 0
    """How often a call was in another room than the call before it in the same thread."""
    own: set[str] = field(default_factory=set)
    """The files that the thread which opened the trace has entered itself."""
    own_changes: int = 0


class Tracer:
    """Sees all calls of this thread, and of threads that start after it was made, until it is closed."""

    def __init__(self) -> None:
        self._open: Trace | None = None
        self._caller = threading.get_ident()
        self._rooms: dict[int, str] = {}
        self._places: dict[CodeType, tuple[str, int]] = {}
        self._lock = threading.Lock()
        threading.setprofile(self._see)
        sys.setprofile(self._see)

    def close(self) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    @contextmanager
    def trace(self, until: str = "") -> Iterator[Trace]:
        self._rooms.clear()
        self._open = trace = Trace(until)
        try:
            yield trace
        finally:
            self._open = None

    def _see(self, frame: FrameType, event: str, _what: object) -> None:
        trace = self._open
        if event != "call" or trace is None:
            return
        file, start = self._places.get(frame.f_code) or self._place(frame.f_code)
        if not file or frame.f_lasti > start:
            return
        with self._lock:
            if self._open is not trace:
                return
            thread = threading.get_ident()
            if file not in trace.files:
                trace.files.append(file)
            room = room_of(file)
            changed = self._rooms.get(thread, room) != room
            self._rooms[thread] = room
            trace.changes += changed
            if thread == self._caller:
                trace.own.add(file)
                trace.own_changes += changed
            if trace.until == f"{file}:{frame.f_code.co_name}":
                self._open = None

    def _place(self, code: CodeType) -> tuple[str, int]:
        """A function's file in the checkout, or "", and the last offset of its code at which a call of it is seen.

        A generator is first called two instructions behind the one that made it, and each time again further down.
        """
        path = Path(code.co_filename)
        file = path.relative_to(CHECKOUT).as_posix() if path.is_relative_to(CHECKOUT) else ""
        if not file.startswith(TOPS) or code.co_name == "<module>":
            file = ""
        made = (one.offset + 4 for one in dis.get_instructions(code) if one.opname == "RETURN_GENERATOR")
        place = self._places[code] = file, next(made, len(code.co_code))
        return place
