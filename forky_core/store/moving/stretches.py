"""Reading something long piece by piece, with pieces that fit into memory however long their values are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from forky_core.model import ConversationId, Generation, Message, Operation
from forky_core.store.contract import Store

T = TypeVar("T")

_FIRST = 512
"""Values in the first piece, of whose length nothing is known yet."""
_MOST = 2_048
PIECE_OF_CALLS = 1_024
"""Model calls in a piece."""
_PLENTY = 4_000_000
"""Characters in a piece from which on the next one has fewer values."""


def messages_after(store: Store, conversation: ConversationId, after: int) -> Iterator[tuple[Message, ...]]:
    """The messages of a conversation but the first `after`, in the order they were written."""
    yield from _pieces(lambda at, most: store.stretch(conversation, after=at, most=most), _length, after)


def operations_after(
    store: Store, conversation: ConversationId, after: int
) -> Iterator[tuple[Operation, ...]]:
    """The operations of a conversation with a number above `after`, oldest first."""
    yield from _pieces(
        lambda at, most: store.stretch_of_log(conversation, after=at, most=most), _length_of_changes, after
    )


def each_operation(store: Store, conversation: ConversationId) -> Iterator[Operation]:
    for piece in operations_after(store, conversation, 0):
        yield from piece


def calls(
    store: Store, conversation: ConversationId
) -> Iterator[tuple[Generation | None, tuple[Generation, ...]]]:
    """The model calls of a conversation in the order they were started, each piece with the call before it."""
    last: Generation | None = None
    while piece := store.stretch_of_calls(conversation, after=last, most=PIECE_OF_CALLS):
        yield last, piece
        last = piece[-1]


def _pieces(
    read: Callable[[int, int], tuple[T, ...]], length: Callable[[T], int], after: int
) -> Iterator[tuple[T, ...]]:
    most = _FIRST
    while piece := read(after, most):
        yield piece
        if len(piece) < most:
            return
        after += len(piece)
        total = _total(piece, length)
        if total > _PLENTY:
            most = max(most // 4, 1)
        elif total < _PLENTY // 4:
            most = min(most * 4, _MOST)


def _total(piece: Sequence[T], length: Callable[[T], int]) -> int:
    return sum(map(length, piece))


def _length(message: Message) -> int:
    return len(message.text)


def _length_of_changes(operation: Operation) -> int:
    return sum(len(repr(change.after)) for change in operation.changes)
