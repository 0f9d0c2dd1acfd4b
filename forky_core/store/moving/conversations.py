"""Copying conversations between stores: messages, operations, model calls and derived values, piece by piece.

What is written is gathered over several conversations, so that thousands of short ones do not cost a transaction each.
What the target has already is left alone, so copying goes on wherever it was broken off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from forky_core.model import ConversationId, Message, MessageId, Operation
from forky_core.model.erasure import ERASED, Erasure, id_now, operation_id_now, rewritten_operations
from forky_core.model.errors import NotFound, StoreDamaged
from forky_core.store.moving.contract import ConversationPart, MovableStore
from forky_core.store.moving.stretches import calls, each_operation, messages_after, operations_after

_GROUP = 2_000
"""Messages, operations, model calls and derived values that are written in one transaction."""
_DERIVED = 200
"""Derived values that are read at a time."""
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

    def copy(self, id: ConversationId, *, total: int, there: int = 0) -> Iterator[int]:
        """Copy what the target has not; yields how many messages were copied, piece by piece.

        `total` is how many messages the conversation has, `there` how many of them are in the target. Whatever is
        copied is checked against its id.

        Raises:
            StoreDamaged: something does not have the content that its id was made from, or is missing.
        """
        version = version_in(self._target, id)
        known = version > 0
        view = self._source.view(id)
        rewritten: Mapping[int, str] = {}
        erased: Mapping[MessageId, Erasure] = {}
        if any(key.startswith(ERASED) for key in view.entries):
            erased = view.erasures
            rewritten = rewritten_operations(each_operation(self._source, id))
        last: str | None = None
        if version:
            last = self._source.stretch_of_log(id, after=version - 1, most=1)[0].id
        else:
            first = self._source.stretch_of_log(id, after=0, most=1)
            last = _checked_log(id, first, last, rewritten)
            self._add(ConversationPart(id, operations=first))
            version = 1
        for piece in messages_after(self._source, id, there):
            _check_messages(id, piece, erased)
            self._add(ConversationPart(id, messages=piece))
            self.messages += len(piece)
            there += len(piece)
            yield len(piece)
        for log in operations_after(self._source, id, version):
            last = _checked_log(id, log, last, rewritten)
            self._add(ConversationPart(id, operations=log))
            version += len(log)
        if there < total or version < view.version:
            raise StoreDamaged(
                f"Only {there:,} of the {total:,} messages and {version:,} of the {view.version:,} operations of the "
                f"conversation {id} can be read, so nothing more is moved.",
                _VERIFY,
            )
        self._copy_calls(id, known=known)
        self._copy_derived(id, known=known)

    def flush(self) -> None:
        """Write what is gathered."""
        if self._parts:
            self._target.adopt(tuple(self._parts.values()))
            self._parts.clear()
            self._weight = 0

    def _copy_calls(self, id: ConversationId, *, known: bool) -> None:
        for last, piece in calls(self._source, id):
            there: set[str] = set()
            if known:
                stored = {
                    call.id: call for call in self._target.stretch_of_calls(id, after=last, most=len(piece))
                }
                there = {call.id for call in piece if stored.get(call.id) == call}
            self._add(ConversationPart(id, generations=tuple(call for call in piece if call.id not in there)))

    def _copy_derived(self, id: ConversationId, *, known: bool) -> None:
        every = self._source.derived_keys(id)
        for at in range(0, len(every), _DERIVED):
            keys = every[at : at + _DERIVED]
            there = self._target.derived(id, keys) if known else {}
            values = self._source.derived(id, keys)
            self._add(
                ConversationPart(
                    id, derived={key: value for key, value in values.items() if there.get(key) != value}
                )
            )

    def _add(self, part: ConversationPart) -> None:
        weight = len(part.messages) + len(part.operations) + len(part.generations) + len(part.derived)
        if not weight:
            return
        known = self._parts.pop(part.conversation, None)
        self._parts[part.conversation] = _joined(known, part) if known is not None else part
        self._weight += weight
        if self._weight >= _GROUP:
            self.flush()


def version_in(store: MovableStore, id: ConversationId) -> int:
    """The number of the last operation of a conversation; 0 if it is not there."""
    try:
        return store.view(id).version
    except NotFound:
        return 0


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


def _checked_log(
    id: ConversationId, log: Sequence[Operation], last: str | None, rewritten: Mapping[int, str]
) -> str | None:
    """The id of the last of these operations, which follow the one whose id is `last`."""
    for operation in log:
        content = operation_id_now(operation)
        if operation.previous != last or content != rewritten.get(operation.number, operation.id):
            raise StoreDamaged(
                f"Operation {operation.number} of the conversation {id} is not the one that its log was made of, "
                "so nothing more is moved.",
                _VERIFY,
            )
        last = operation.id
    return last
