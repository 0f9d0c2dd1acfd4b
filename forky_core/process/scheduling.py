"""Pauses Python's collector and shortens the turns of its threads while a server is busy, and decides which work goes
first.

The collector and the turns belong to the whole process, so `uncollected` and `short_turns` do nothing until the program
calls `tune` (forky_core/llm/process_tuning.py).
"""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

TURN = 0.0005
"""Seconds."""
FEW = 2
"""Pages at once beside which turns are short. With more, handing the interpreter over costs more than it spares: with
200 people at work and 20 replies on the way, a click took 5.1 s in the median in short turns and 1.2 s like this.
"""

LET_BY = 0.5
"""Seconds for which work that can wait does so at once; as long again it then goes on."""
_LOOK = 0.04
_AFTER = 0.04
"""Seconds after what was waited for: it is still on its way to the browser."""

_tuned = False
_turns = threading.Lock()
_inside = 0
_usual = 0.0
_ahead = 0
_passed = float("-inf")


def tune() -> None:
    """Let `uncollected` and `short_turns` change the process from now on."""
    global _tuned  # noqa: PLW0603 - of the whole process
    _tuned = True


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the garbage collector in this block. Messages contain no cycles, and each full run of it looks at
    everything in memory.

    Of a thousand messages that is up to half the time of reading them, and a tenth of converting them. Where threads
    overlap, or somebody else has turned it off, it may be on again earlier: that costs time and nothing else.
    """
    if not _tuned or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def short_turns() -> Iterator[None]:
    """Let other threads run after half a millisecond instead of five, in the whole process, while this block runs.

    For work that nobody waits for, beside a server that somebody does: answering a request takes a fraction of a turn,
    and waits for one or two. Where several threads overlap here, the last to leave restores what was; so do more than
    `FEW` pages that go `ahead` at once, for as long as they do.
    """
    global _inside, _usual  # noqa: PLW0603 - the interval is the whole process's, too
    if not _tuned:
        yield
        return
    with _turns:
        if not _inside:
            _usual = sys.getswitchinterval()
        _inside += 1
        _set_turns()
    try:
        yield
    finally:
        with _turns:
            _inside -= 1
            _set_turns()


def _set_turns() -> None:
    """Set the interval at which threads change turns to what the pages and blocks at work call for. The lock must be
    held, and `short_turns` have been entered once.
    """
    wanted = min(_usual, TURN) if _inside and _ahead <= FEW else _usual
    if wanted != sys.getswitchinterval():
        sys.setswitchinterval(wanted)


@contextmanager
def ahead() -> Iterator[None]:
    """Mark this block as something that a person waits for, such as a page. `Patient` work lets it go first."""
    global _ahead, _passed  # noqa: PLW0603 - one interpreter, which all threads of the process share
    with _turns:
        _ahead += 1
        if _inside:
            _set_turns()
    try:
        yield
    finally:
        with _turns:
            _ahead -= 1
            _passed = time.monotonic()
            if _inside:
                _set_turns()


class Patient:
    """A piece of work that lets blocks in `ahead` go first, and gets at least half of the time."""

    def __init__(self) -> None:
        self._next = float("-inf")

    async def let_by(self) -> None:
        """Wait between two steps on an event loop while something goes ahead, for LET_BY seconds at most."""
        for pause in self._pauses():
            await asyncio.sleep(pause)

    def let_by_in_thread(self) -> None:
        """Like `let_by`, for a thread that nobody waits for."""
        for pause in self._pauses():
            time.sleep(pause)

    def _pauses(self) -> Iterator[float]:
        now = begun = time.monotonic()
        if begun < self._next or not _is_ahead(begun):
            return
        while now < begun + LET_BY and _is_ahead(now):
            yield _LOOK
            now = time.monotonic()
        self._next = now + (now - begun)


def _is_ahead(now: float) -> bool:
    return _ahead > 0 or now < _passed + _AFTER
