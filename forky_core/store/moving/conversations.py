"""Copying conversations between stores: each is read whole, checked against its ids, and written in pieces.

What is written is gathered over several conversations, so that thousands of short ones do not cost a transaction each.
What the target has already stays, so a move goes on with the conversation at which it was broken off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from forky_core.model import ConversationId, Message, MessageId, Operation
from forky_core.model.erasure import Erasure, id_now, operation_id_now, rewritten_operations
from forky_core.model.errors import NotFound, StoreDamaged
from forky_core.store.moving.contract import ConversationPart, MovableStore

_GROUP = 2_000
"""Messages, operations, model calls and derived values that are written in one transaction."""
_ALL = 1_000_000_000
"""More than a conversation has of anything."""
_VERIFY = "`forky verify` names all that is wrong. A backup may have it as it was."


class ConversationCopier:
    """Copies conversations from one store to another; call `flush` after the last one."""

    def __init__(self, source: MovableStore, target: MovableStore) -> None:
        self._source = source
        self._target = target
        self._parts: dict[ConversationId, ConversationPart] = {}
        self._weight = 0
        self.messages = 0
        """How many messages were copied."""

    def copy(self, id: ConversationId, total: int) -> Iterator[int]:
        """Copy what the target has not of a conversation with `total` messages.

        Yields how many messages the target has, after each piece. Whatever the source has is checked against its id.

        Raises:
            StoreDamaged: something does not have the content that its id was made from, or is missing.
        """
        view, mine = self._source.view(id), everything_of(self._source, id)
        _check_log(id, mine.operations)
        _check_messages(id, mine.messages, view.erasures)
        if len(mine.messages) < total or len(mine.operations) < view.version:
            raise StoreDamaged(
                f"Only {len(mine.messages):,} of the {total:,} messages and {len(mine.operations):,} of the "
                f"{view.version:,} operations of the conversation {id} can be read, so nothing more is moved.",
                _VERIFY,
            )
        known = version_in(self._target, id) > 0
        theirs = everything_of(self._target, id) if known else ConversationPart(id)
        there = len(theirs.messages)
        for piece in _pieces(mine, theirs):
            self._add(piece)
            self.messages += len(piece.messages)
            there += len(piece.messages)
            yield there

    def flush(self) -> None:
        """Write what is gathered."""
        if self._parts:
            self._target.adopt(tuple(self._parts.values()))
            self._parts.clear()
            self._weight = 0

    def _add(self, part: ConversationPart) -> None:
        known = self._parts.pop(part.conversation, None)
        self._parts[part.conversation] = _joined(known, part) if known is not None else part
        self._weight += len(part.messages) + len(part.operations) + len(part.generations) + len(part.derived)
        if self._weight >= _GROUP:
            self.flush()


def everything_of(store: MovableStore, id: ConversationId) -> ConversationPart:
    """All that a store has of a conversation, read past its cache."""
    return ConversationPart(
        id,
        store.stretch(id, after=0, most=_ALL),
        store.stretch_of_log(id, after=0, most=_ALL),
        store.stretch_of_calls(id, after=None, most=_ALL),
        store.derived(id, store.derived_keys(id)),
    )


def version_in(store: MovableStore, id: ConversationId) -> int:
    """The number of the last operation of a conversation; 0 if it is not there."""
    try:
        return store.view(id).version
    except NotFound:
        return 0


def _pieces(mine: ConversationPart, theirs: ConversationPart) -> Iterator[ConversationPart]:
    """What one store has more of a conversation than another one, in pieces that are written one after the other: the
    operation that made it, all messages, and what speaks of them.
    """
    id = mine.conversation
    messages, log = mine.messages[len(theirs.messages) :], mine.operations[len(theirs.operations) :]
    calls = {call.id: call for call in theirs.generations}
    lacking = [call for call in mine.generations if calls.get(call.id) != call]
    derived = [one for one in mine.derived.items() if theirs.derived.get(one[0]) != one[1]]
    if not theirs.operations:
        yield ConversationPart(id, operations=log[:1])
        log = log[1:]
    for at in range(0, len(messages), _GROUP):
        yield ConversationPart(id, messages=messages[at : at + _GROUP])
    for at in range(0, len(log), _GROUP):
        yield ConversationPart(id, operations=log[at : at + _GROUP])
    for at in range(0, max(len(lacking), len(derived)), _GROUP):
        some = tuple(lacking[at : at + _GROUP])
        yield ConversationPart(id, generations=some, derived=dict(derived[at : at + _GROUP]))


def _joined(one: ConversationPart, other: ConversationPart) -> ConversationPart:
    return replace(
        one,
        messages=one.messages + other.messages,
        operations=one.operations + other.operations,
        generations=one.generations + other.generations,
        derived={**one.derived, **other.derived},
    )


def _check_messages(
    id: ConversationId, messages: Sequence[Message], erased: Mapping[MessageId, Erasure]
) -> None:
    for message in messages:
        erasure = erased.get(message.id)
        if id_now(message) != (erasure.now if erasure is not None else message.id):
            raise StoreDamaged(
                f"The message {message.id} of the conversation {id} does not have the content its id was made from, "
                "so nothing more is moved.",
                _VERIFY,
            )


def _check_log(id: ConversationId, log: Sequence[Operation]) -> None:
    rewritten = rewritten_operations(log)
    last: str | None = None
    for operation in log:
        content = operation_id_now(operation)
        if operation.previous != last or content != rewritten.get(operation.number, operation.id):
            raise StoreDamaged(
                f"Operation {operation.number} of the conversation {id} is not the one that its log was made of, "
                "so nothing more is moved.",
                _VERIFY,
            )
        last = operation.id
