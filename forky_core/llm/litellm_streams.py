"""Streams of LiteLLM that a program leaves before their end, of which LiteLLM reports nothing to any callback.

None of its hooks sees a stream go: the last thing they hear of is a chunk. So its stream class is told once, when the
first listener comes, to say which streams begin; nothing else about it changes. A stream is over when Python lets go of
it: at once where an asynchronous one is left, at the next collection where a synchronous one is (LiteLLM 1.105 keeps it
in a circle of references), at the latest when the program ends.
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
"""Seconds within which LiteLLM reports a stream that was read to its end: it does so in a thread of its own."""
_TOLD = ("litellm_call_id", "messages", "model", "optional_params", "start_time")


class Gone(NamedTuple):
    """A stream that is no more, whether it was left or not."""

    told: Mapping[str, Any]
    """What LiteLLM knew of the call when it began, by LiteLLM's own names."""
    chunks: list[Any]
    at: float
    """On the monotonic clock."""


class Streams:
    """Tells of each stream that has ended, after LiteLLM had the time to report it."""

    def __init__(self, listens: Callable[[], bool], tell: Callable[[Gone], None]) -> None:
        """`listens` says whether streams that begin now are to be told of; `tell` is called in a thread of its own."""
        self._listens, self._tell = listens, tell
        self._gone: queue.SimpleQueue[Gone | None] = queue.SimpleQueue()
        """Simple: it may be put to from within a garbage collection."""
        self._open: dict[int, tuple[weakref.finalize[Any, Any], str, list[Any]]] = {}
        """By the stream's identity: what ends it, the id of its call and its chunks."""
        self._closing = threading.Event()
        self._teller: threading.Thread | None = None
        _hear(self)

    def begin(self, stream: Any) -> None:
        if not self._listens() or self._closing.is_set():
            return
        about = stream.logging_obj.model_call_details
        told = {name: about.get(name) for name in _TOLD}
        session = (about.get("litellm_params") or {}).get("litellm_session_id")
        told["litellm_params"] = {"litellm_session_id": session}
        if self._teller is None:
            self._teller = threading.Thread(target=self._tell_all, name="forky-streams", daemon=True)
            self._teller.start()
        number = id(stream)
        end = weakref.finalize(stream, self._end, number, told, stream.chunks)
        self._open[number] = end, str(told["litellm_call_id"] or ""), stream.chunks

    def arrived(self, call: str) -> list[Any]:
        """The chunks of an open stream of that call so far."""
        return next((list(chunks) for _, id, chunks in self._opened() if id == call and chunks), [])

    def close(self, patience: float) -> None:
        """Tell at once of those that are open, within so many seconds."""
        for end, _, _ in self._opened():
            end()
        self._closing.set()
        self._gone.put(None)
        if self._teller is not None:
            self._teller.join(patience)

    def _opened(self) -> list[tuple[weakref.finalize[Any, Any], str, list[Any]]]:
        # No tuple: to make one may set off a collection, which takes streams out while they are iterated over.
        return list(self._open.values())

    def _end(self, number: int, told: Mapping[str, Any], chunks: list[Any]) -> None:
        self._open.pop(number, None)
        self._gone.put(Gone(told, chunks, time.monotonic()))

    def _tell_all(self) -> None:
        while (one := self._gone.get()) is not None:
            self._closing.wait(max(0.0, one.at + _GRACE - time.monotonic()))
            self._tell(one)


_LISTENERS: weakref.WeakSet[Streams] = weakref.WeakSet()
_hearing = threading.Lock()
"""Held while listeners are added or gone through."""


def _hear(listener: Streams) -> None:
    with _hearing:
        _LISTENERS.add(listener)
    begun = litellm.CustomStreamWrapper.__init__
    if hasattr(begun, "__wrapped__"):
        return

    @functools.wraps(begun)
    def begin(self: Any, *args: Any, **named: Any) -> None:
        begun(self, *args, **named)
        with _hearing:
            listeners = list(_LISTENERS)
        for one in listeners:
            with suppress(Exception):  # A program must not fail because its log does.
                one.begin(self)

    litellm.CustomStreamWrapper.__init__ = begin
