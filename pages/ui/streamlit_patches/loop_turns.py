"""Wakes the server's event loop once for all that a run draws, and not once for each element.

A run passes each of its elements to the event loop by a call of its own, and each call writes to a socket that wakes
the loop. The interpreter switches threads for that, so that a run which draws a hundred elements waits a hundred times
for the threads of other people's pages. With this patch, elements that a run passes on before the loop has woken up
are queued behind the first one, in the same order.

The loop then notifies the sender of each element, by a call that writes to the same socket. With this patch it notifies
the sender once for all of them.
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


class _CallbackQueue:
    """The callbacks that one session passes to the event loop. It can be used from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []

    def add(self, callback: Callable[[], None]) -> bool:
        """Add a callback, and return whether it is the first since the last `take`."""
        with self._lock:
            self._callbacks.append(callback)
            return len(self._callbacks) == 1

    def take(self) -> list[Callable[[], None]]:
        with self._lock:
            callbacks, self._callbacks = self._callbacks, []
        return callbacks


def apply() -> None:
    """Have a session wake the event loop once for all queued callbacks, and the loop notify the sender once for all."""
    session = part("streamlit.runtime.app_session:AppSession")
    call_soon = session._call_soon_on_event_loop
    queues: WeakKeyDictionary[AppSession, _CallbackQueue] = WeakKeyDictionary()

    @wraps(call_soon)
    def call_soon_once(self: AppSession, callback: Callable[[], None]) -> None:
        queue = queues.get(self)
        if queue is None:
            queue = queues.setdefault(self, _CallbackQueue())
        if queue.add(callback):
            call_soon(self, lambda: _schedule(self, queue))

    session._call_soon_on_event_loop = call_soon_once
    enqueue = session._enqueue_forward_msg
    notifying: WeakSet[AppSession] = WeakSet()
    """The sessions for which the sender will be notified in the loop's next turn; only the loop's thread uses it."""

    @wraps(enqueue)
    def enqueue_and_notify_once(self: AppSession, msg: ForwardMsg) -> None:
        if not _is_on_loop_of(self):
            enqueue(self, msg)
            return
        self._browser_queue.enqueue(msg)
        if self not in notifying:
            notifying.add(self)
            self._event_loop.call_soon(partial(_notify, self, notifying))

    session._enqueue_forward_msg = enqueue_and_notify_once


def _is_on_loop_of(session: AppSession) -> bool:
    try:
        return asyncio.get_running_loop() is session._event_loop
    except RuntimeError:
        return False


def _notify(session: AppSession, notifying: WeakSet[AppSession]) -> None:
    notifying.discard(session)
    notify = session._message_enqueued_callback
    if notify is not None:
        notify()


def _schedule(session: AppSession, queue: _CallbackQueue) -> None:
    """Schedule the queued callbacks on the loop, each by itself so that a failure of one does not affect the others."""
    for callback in queue.take():
        session._event_loop.call_soon(callback)
