"""What a run draws wakes the server's event loop once, and not once for each element.

A run hands each of its elements to the event loop by a call of its own, and each call writes to a socket that wakes the
loop. The interpreter gives its turn away for that, so that a run which draws a hundred elements waits a hundred times
for the threads of other people's pages. Here, what is handed over while the loop has not yet looked goes with what was
handed over before it, in the same order.

The loop in its turn tells what sends of each element, by a call that writes to the same socket. Here it tells once of
all that it has taken.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial, wraps
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, WeakSet

from pages.ui.streamlit_patches.patch import part

if TYPE_CHECKING:
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
    from streamlit.runtime.app_session import AppSession


class _HandedOver:
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
    """Have a session call the event loop once for all that waits, and the loop call what sends once for all of that."""
    session = part("streamlit.runtime.app_session:AppSession")
    call_soon = session._call_soon_on_event_loop
    waiting: WeakKeyDictionary[AppSession, _HandedOver] = WeakKeyDictionary()

    @wraps(call_soon)
    def gathered(self: AppSession, callback: Callable[[], None]) -> None:
        mine = waiting.get(self)
        if mine is None:
            mine = waiting.setdefault(self, _HandedOver())
        if mine.add(callback):
            call_soon(self, lambda: _hand_over(self, mine))

    session._call_soon_on_event_loop = gathered
    enqueue = session._enqueue_forward_msg
    telling: WeakSet[AppSession] = WeakSet()
    """Sessions whose messages will be told of in the loop's next turn; only the loop's thread asks."""

    @wraps(enqueue)
    def told_once(self: AppSession, msg: ForwardMsg) -> None:
        if not _is_on_loop_of(self):
            enqueue(self, msg)
            return
        self._browser_queue.enqueue(msg)
        if self not in telling:
            telling.add(self)
            self._event_loop.call_soon(partial(_tell, self, telling))

    session._enqueue_forward_msg = told_once


def _is_on_loop_of(session: AppSession) -> bool:
    try:
        return asyncio.get_running_loop() is session._event_loop
    except RuntimeError:
        return False


def _tell(session: AppSession, telling: WeakSet[AppSession]) -> None:
    telling.discard(session)
    tell = session._message_enqueued_callback
    if tell is not None:
        tell()


def _hand_over(session: AppSession, waiting: _HandedOver) -> None:
    """Have the event loop, on whose thread this is, run what waits: each by itself, so that one that fails is alone."""
    for callback in waiting.take():
        session._event_loop.call_soon(callback)
