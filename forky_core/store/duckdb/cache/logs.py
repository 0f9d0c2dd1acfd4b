"""A cache of the operations and generations of recently read conversations, updated by the writer.

Pages need them on every run. Only the writer changes them, and it publishes each change here once it is durable, before
its caller's call returns. A reader that is loading meanwhile adds these late changes to the rows it read.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from threading import Lock

from forky_core.model import ConversationId, Generation, Operation

_MOST = 200_000
"""Operations and generations that may be cached together: about 200 MB."""
_TRIM_EVERY = 64


class Log:
    """The newest operations of one conversation, without a gap."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: list[Operation] = []
        self._late: list[Operation] = []
        """Operations published before anything was loaded."""

    def __len__(self) -> int:
        return len(self._held)

    def publish(self, operation: Operation) -> None:
        with self._lock:
            if not self._held:
                self._late.append(operation)
            elif self._held[-1].number < operation.number:
                self._held.append(operation)

    def complete(self, operations: Sequence[Operation]) -> None:
        """Store the newest operations as they were read from the file: at least one, oldest first."""
        with self._lock:
            newest = operations[-1].number
            later = [operation for operation in (*self._held, *self._late) if operation.number > newest]
            if not self._held or operations[0].number < self._held[0].number:
                self._held = [*operations, *later]
            self._late.clear()

    def later(self, after: int, limit: int | None) -> tuple[Operation, ...] | None:
        """What `Store.operations` returns, or None if some of it is not cached."""
        with self._lock:
            if not self._held:
                return None
            newest = self._held[-1].number
            start = max(after, 0) if limit is None else max(after, newest - max(limit, 0), 0)
            at = start + 1 - self._held[0].number
            if start < newest and at < 0:
                return None
            return tuple(self._held[max(at, 0) :]) if start < newest else ()


class CallLog:
    """The generations of one conversation, in the order they were started."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._places: dict[str, tuple[int, str]] = {}
        self._order: list[tuple[int, str]] = []
        self._held: list[Generation] = []
        self._whole = False
        self._late: list[Generation] = []
        self._listed: tuple[Generation, ...] | None = None

    def __len__(self) -> int:
        return len(self._held)

    def publish(self, generation: Generation) -> None:
        with self._lock:
            if self._whole:
                self._put(generation)
            else:
                self._late.append(generation)

    def complete(self, generations: Iterable[Generation]) -> None:
        """Store all generations as they were read from the file."""
        with self._lock:
            if not self._whole:
                for generation in (*generations, *self._late):
                    self._put(generation)
                self._late.clear()
                self._whole = True

    def _put(self, generation: Generation) -> None:
        place = (generation.started, generation.id)
        before = self._places.get(generation.id)
        if before is not None and before != place:
            at = bisect_left(self._order, before)
            del self._order[at], self._held[at]
        at = bisect_left(self._order, place)
        if before == place:
            self._held[at] = generation
        else:
            insort(self._order, place)
            self._held.insert(at, generation)
            self._places[generation.id] = place
        self._listed = None

    def all(self) -> tuple[Generation, ...] | None:
        """All generations, or None if they are not loaded."""
        with self._lock:
            if self._whole and self._listed is None:
                self._listed = tuple(self._held)
            return self._listed


class Logs:
    """The logs and calls of conversations; the least recently used ones are evicted first."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._lock = Lock()
        self._uses = 0
        self._held: OrderedDict[ConversationId, tuple[Log, CallLog]] = OrderedDict()

    def of(self, conversation: ConversationId) -> tuple[Log, CallLog]:
        """The caches of a conversation. Take them before reading rows, so that no concurrent publication is missed."""
        with self._lock:
            held = self._held.get(conversation)
            if held is None:
                held = self._held[conversation] = (Log(), CallLog())
            self._held.move_to_end(conversation)
            self._uses += 1
            if self._uses % _TRIM_EVERY == 0:
                self._trim()
            return held

    def _trim(self) -> None:
        weight = sum(len(log) + len(calls) + 1 for log, calls in self._held.values())
        while weight > self._most and len(self._held) > 1:
            _, (log, calls) = self._held.popitem(last=False)
            weight -= len(log) + len(calls) + 1

    def publish(
        self, conversation: ConversationId, operation: Operation | None, generations: Iterable[Generation]
    ) -> None:
        """Add what has just become durable. Nothing is cached for a conversation that nobody has read."""
        with self._lock:
            held = self._held.get(conversation)
        if held is not None:
            if operation is not None:
                held[0].publish(operation)
            for generation in generations:
                held[1].publish(generation)

    def drop(self, conversation: ConversationId) -> None:
        with self._lock:
            self._held.pop(conversation, None)
