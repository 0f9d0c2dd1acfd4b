"""Lazy sequences of the log and the model calls of a long conversation in the store.

Like stored.py for messages: to readers of a `Chat` they are ordinary sequences, of which one stretch is in memory at a
time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import overload

from forky_core.formats.forky_file.stored import STRETCH
from forky_core.model import ConversationId, Generation, Operation
from forky_core.store.contract import Store

_AT_ONCE = 4 * STRETCH
"""Operations and calls that are read at a time: they are shorter than messages."""


class StoredLog(Sequence[Operation]):
    """The first `length` operations of a conversation."""

    def __init__(self, store: Store, conversation: ConversationId, length: int) -> None:
        self._store = store
        self._conversation = conversation
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Operation]:
        for after in range(0, self._length, _AT_ONCE):
            yield from self._read(after, min(after + _AT_ONCE, self._length))

    @overload
    def __getitem__(self, at: int) -> Operation: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Operation, ...]: ...
    def __getitem__(self, at: int | slice) -> Operation | tuple[Operation, ...]:
        places = range(self._length)[at]
        if isinstance(places, int):
            return self._read(places, places + 1)[0]
        found = self._read(min(places), max(places) + 1) if places else ()
        return tuple(found[place - min(places)] for place in places)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and _same(self, other)

    __hash__ = None  # type: ignore[assignment]

    def _read(self, after: int, last: int) -> tuple[Operation, ...]:
        return self._store.stretch_of_log(self._conversation, after=after, most=last - after)


class StoredCalls(Iterable[Generation]):
    """Model calls that are read, or generated, on each iteration."""

    def __init__(self, begin: Callable[[], Iterator[Generation]]) -> None:
        self._begin = begin

    def __iter__(self) -> Iterator[Generation]:
        return self._begin()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StoredCalls | tuple) and _same(self, other)

    __hash__ = None  # type: ignore[assignment]


def calls_of(store: Store, conversation: ConversationId) -> Iterable[Generation]:
    """Generations that have ended, in the order they were started; a tuple if there are few."""
    first = store.stretch_of_calls(conversation, after=None, most=STRETCH + 1)
    if len(first) <= STRETCH:
        return tuple(one for one in first if one.status != "running")

    def read() -> Iterator[Generation]:
        stretch = store.stretch_of_calls(conversation, after=None, most=_AT_ONCE)
        while stretch:
            yield from (one for one in stretch if one.status != "running")
            stretch = store.stretch_of_calls(conversation, after=stretch[-1], most=_AT_ONCE)

    return StoredCalls(read)


def log_of(store: Store, conversation: ConversationId, version: int) -> Sequence[Operation]:
    """The log up to the operation with this number."""
    log = StoredLog(store, conversation, version)
    return log if version > STRETCH else tuple(log)


def each_call(
    calls: Iterable[Generation], made: Callable[[Generation], Generation | None]
) -> Iterable[Generation]:
    """The result of `made` for each call; None leaves it out. Generated on each iteration if `calls` are."""

    def made_anew() -> Iterator[Generation]:
        return (one for call in calls if (one := made(call)) is not None)

    return StoredCalls(made_anew) if isinstance(calls, StoredCalls) else tuple(made_anew())


def _same(one: Iterable[object], other: Iterable[object]) -> bool:
    end = object()
    return all(a == b for a, b in zip_longest(one, other, fillvalue=end))
