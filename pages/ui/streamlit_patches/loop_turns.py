"""What a run draws wakes the server's event loop once, and not once for each element.

A run hands each of its elements to the event loop by a call of its own, and each call writes to a socket that wakes the
loop. The interpreter gives its turn away for that, so that a run which draws a hundred elements waits a hundred times
for the threads of other people's pages. Here, what is handed over while the loop has not yet looked goes with what was
handed over before it, in the same order.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from pages.ui.streamlit_patches.patch import part

if TYPE_CHECKING:
    from streamlit.runtime.app_session import AppSession


class _Waiting:
    """What one session hands over to the event loop; safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []

    def add(self, callback: Callable[[], None]) -> bool:
        """Whether it is the first since the last `take`."""
        with self._lock:
            self._callbacks.append(callback)
            return len(self._callbacks) == 1

    def take(self) -> list[Callable[[], None]]:
        with self._lock:
            callbacks, self._callbacks = self._callbacks, []
        return callbacks


def apply() -> None:
    """Have a session call the event loop once for all that waits."""
    session = part("streamlit.runtime.app_session:AppSession")
    call_soon = session._call_soon_on_event_loop
    waiting: WeakKeyDictionary[AppSession, _Waiting] = WeakKeyDictionary()

    @wraps(call_soon)
    def gathered(self: AppSession, callback: Callable[[], None]) -> None:
        mine = waiting.get(self)
        if mine is None:
            mine = waiting.setdefault(self, _Waiting())
        if mine.add(callback):
            call_soon(self, lambda: _hand_over(self, mine))

    session._call_soon_on_event_loop = gathered


def _hand_over(session: AppSession, waiting: _Waiting) -> None:
    """Have the event loop, on whose thread this is, run what waits: each by itself, so that one that fails is alone."""
    for callback in waiting.take():
        session._event_loop.call_soon(callback)
