"""Pauses Python's garbage collector and shortens its thread switch interval while a server is busy, and lets background
work give way to what a person waits for.

The collector and the interval belong to the whole process, so `gc_paused` and `short_switch_interval` do nothing until
the program calls `tune` (forky_core/llm/process_tuning.py).
"""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

SHORT_INTERVAL = 0.0005
"""The short switch interval, in seconds; Python's own is 0.005."""
MOST_FOREGROUND = 2
"""The most foreground blocks with which the interval is short. With more, switching threads costs more than it gains:
with 200 people at work and 20 replies under way, the median click took 5.1 s with the short interval and 1.2 s without.
"""

LONGEST_YIELD = 0.5
"""The longest single wait of background work, in seconds. The next wait comes no sooner than the last one was long."""
_POLL = 0.04
_AFTER = 0.04
"""Seconds for which a foreground block counts after its end, because its result is still on its way to the browser."""

_tuned = False
_lock = threading.Lock()
_short_blocks = 0
_usual_interval = 0.0
_foreground_blocks = 0
_foreground_ended = float("-inf")


def tune() -> None:
    """Let `gc_paused` and `short_switch_interval` change the process from now on."""
    global _tuned  # noqa: PLW0603 - of the whole process
    _tuned = True


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the garbage collector in this block, for code that makes many objects without cycles, such as messages.

    A full collection looks at everything in memory: with a thousand messages that is up to half the time of reading
    them, and a tenth of converting them. The collector may be on again before the end of the block where threads
    overlap or something else switched it off; that costs only time.
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
def short_switch_interval() -> Iterator[None]:
    """Let Python switch threads every half millisecond instead of every five, in the whole process, during this block.

    It is for background work in a server: answering a request takes a fraction of an interval but waits for one or two.
    The last of several overlapping blocks restores the usual interval. It is also restored for as long as more than
    `MOST_FOREGROUND` blocks of `foreground` run at once.
    """
    global _short_blocks, _usual_interval  # noqa: PLW0603 - the interval is the whole process's, too
    if not _tuned:
        yield
        return
    with _lock:
        if not _short_blocks:
            _usual_interval = sys.getswitchinterval()
        _short_blocks += 1
        _set_interval()
    try:
        yield
    finally:
        with _lock:
            _short_blocks -= 1
            _set_interval()


def _set_interval() -> None:
    """Set the switch interval for the blocks that run now. The caller holds the lock, and has entered
    `short_switch_interval` at least once.
    """
    is_short = _short_blocks and _foreground_blocks <= MOST_FOREGROUND
    wanted = min(_usual_interval, SHORT_INTERVAL) if is_short else _usual_interval
    if wanted != sys.getswitchinterval():
        sys.setswitchinterval(wanted)


@contextmanager
def foreground() -> Iterator[None]:
    """Mark this block as something that a person waits for, such as a page: `BackgroundTurns` gives way to it."""
    global _foreground_blocks, _foreground_ended  # noqa: PLW0603 - one interpreter, which all threads of the process share
    with _lock:
        _foreground_blocks += 1
        if _short_blocks:
            _set_interval()
    try:
        yield
    finally:
        with _lock:
            _foreground_blocks -= 1
            _foreground_ended = time.monotonic()
            if _short_blocks:
                _set_interval()


class BackgroundTurns:
    """Paces one piece of background work: it gives way to `foreground` blocks, and gets at least half of the time."""

    def __init__(self) -> None:
        self._next = float("-inf")

    async def yield_to_foreground(self) -> None:
        """Wait between two steps while foreground blocks run, for LONGEST_YIELD seconds at most."""
        for pause in self._pauses():
            await asyncio.sleep(pause)

    def yield_to_foreground_in_thread(self) -> None:
        """Do what `yield_to_foreground` does in a thread without an event loop."""
        for pause in self._pauses():
            time.sleep(pause)

    def _pauses(self) -> Iterator[float]:
        now = begun = time.monotonic()
        if begun < self._next or not _is_foreground_busy(begun):
            return
        while now < begun + LONGEST_YIELD and _is_foreground_busy(now):
            yield _POLL
            now = time.monotonic()
        self._next = now + (now - begun)


def _is_foreground_busy(now: float) -> bool:
    return _foreground_blocks > 0 or now < _foreground_ended + _AFTER
