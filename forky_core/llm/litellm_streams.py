"""Streams of LiteLLM that a program leaves before their end, which LiteLLM reports to no callback.

None of its hooks is called when a stream is dropped: the last call is for a chunk. So its stream class is wrapped once,
for the first listener, to report which streams begin; nothing else about it changes. A stream is over when Python frees
it: at once for an asynchronous one, at the next collection for a synchronous one (LiteLLM 1.105 keeps it in a reference
cycle), at the latest when the program ends.
"""

from __future__ import annotations

import functools
import queue
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import litellm

_GRACE = 5.0
"""Seconds within which LiteLLM reports a stream that was read to its end, which it does in another thread."""
_DETAILS = ("litellm_call_id", "messages", "model", "optional_params", "start_time")


class AbandonedStream(NamedTuple):
    """A stream that was freed, whether it was read to its end or not."""

    details: Mapping[str, Any]
    """LiteLLM's facts about the call when it began, by LiteLLM's own names."""
    chunks: list[Any]
    at: float
    """The time on the monotonic clock."""


class Streams:
    """Reports each stream that has ended, after LiteLLM had the time to report it."""

    def __init__(self, listens: Callable[[], bool], report: Callable[[AbandonedStream], None]) -> None:
        """`listens` says whether new streams are to be reported; `report` is called in a separate thread."""
        self._listens, self._report = listens, report
        self._gone: queue.SimpleQueue[AbandonedStream | None] = queue.SimpleQueue()
        """A SimpleQueue, because it may be put to from within a garbage collection."""
        self._open: dict[int, tuple[weakref.finalize[Any, Any], str, list[Any]]] = {}
        """By the stream's identity: its finalizer, the id of its call and its chunks."""
        self._closing = threading.Event()
        self._reporter: threading.Thread | None = None
        _register(self)

    def begin(self, stream: Any) -> None:
        if not self._listens() or self._closing.is_set():
            return
        about = stream.logging_obj.model_call_details
        details = {name: about.get(name) for name in _DETAILS}
        session = (about.get("litellm_params") or {}).get("litellm_session_id")
        details["litellm_params"] = {"litellm_session_id": session}
        if self._reporter is None:
            self._reporter = threading.Thread(target=self._report_all, name="forky-streams", daemon=True)
            self._reporter.start()
        number = id(stream)
        end = weakref.finalize(stream, self._end, number, details, stream.chunks)
        self._open[number] = end, str(details["litellm_call_id"] or ""), stream.chunks

    def arrived(self, call: str) -> list[Any]:
        """Return the chunks so far of an open stream of that call."""
        return next((list(chunks) for _, id, chunks in self._opened() if id == call and chunks), [])

    def close(self, patience: float) -> None:
        """Report the open streams at once, within `patience` seconds."""
        for end, _, _ in self._opened():
            end()
        self._closing.set()
        self._gone.put(None)
        if self._reporter is not None:
            self._reporter.join(patience)

    def _opened(self) -> list[tuple[weakref.finalize[Any, Any], str, list[Any]]]:
        # `tuple` may trigger a garbage collection, which removes streams during the iteration; `list` does not.
        return list(self._open.values())

    def _end(self, number: int, details: Mapping[str, Any], chunks: list[Any]) -> None:
        self._open.pop(number, None)
        self._gone.put(AbandonedStream(details, chunks, time.monotonic()))

    def _report_all(self) -> None:
        while (one := self._gone.get()) is not None:
            self._closing.wait(max(0.0, one.at + _GRACE - time.monotonic()))
            self._report(one)


_LISTENERS: weakref.WeakSet[Streams] = weakref.WeakSet()
_listeners_lock = threading.Lock()
"""Locked while listeners are added or iterated over."""


def _register(listener: Streams) -> None:
    with _listeners_lock:
        _LISTENERS.add(listener)
    begun = litellm.CustomStreamWrapper.__init__
    if hasattr(begun, "__wrapped__"):
        return

    @functools.wraps(begun)
    def begin(self: Any, *args: Any, **named: Any) -> None:
        begun(self, *args, **named)
        with _listeners_lock:
            listeners = list(_LISTENERS)
        for one in listeners:
            with suppress(Exception):  # A program must not fail because its log does.
                one.begin(self)

    litellm.CustomStreamWrapper.__init__ = begin
