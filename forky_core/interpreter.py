"""Python's collector and the turns of its threads, while very much is done at once."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

TURN = 0.0005
"""Seconds."""

_turns = threading.Lock()
_inside = 0
_usual = 0.0


@contextmanager
def uncollected() -> Iterator[None]:
    """No run of the collector meanwhile: what messages are made of, and made into, holds no circles, and each full run
    walks through all that is held.

    Of a thousand messages that is up to half the time of reading them, and a tenth of converting them. Where threads
    overlap, or somebody else has turned it off, it may be on again earlier: that costs time and nothing else.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def short_turns() -> Iterator[None]:
    """Other threads get the interpreter after half a millisecond instead of five, in the whole process.

    For work that nobody waits for, beside a server that somebody does: answering a request takes a fraction of a turn,
    and waits for one or two. Where several threads overlap here, the last to leave restores what was.
    """
    global _inside, _usual  # noqa: PLW0603 - the interval is the whole process's, too
    with _turns:
        if not _inside:
            _usual = sys.getswitchinterval()
            sys.setswitchinterval(min(_usual, TURN))
        _inside += 1
    try:
        yield
    finally:
        with _turns:
            _inside -= 1
            if not _inside:
                sys.setswitchinterval(_usual)
