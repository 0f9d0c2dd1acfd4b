"""Deciding a group: each commit is checked against the ledgers and, if it passes, becomes rows of the group.

What is decided happens in memory, so a lost race costs its author an error and the group nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from forky_core.model import ConversationId, Operation
from forky_core.model.parts import canonical_json
from forky_core.store.base.ledger import Ledger
from forky_core.store.contract import Commit
from forky_core.store.deciding import (
    FOUNDING_VERBS,
    changed_key,
    check_form,
    check_part,
    next_operation,
    no_conversation,
    outdated,
    unstored,
)
from forky_core.store.moving.contract import ConversationPart
from forky_core.store.rows import Row, message_body, message_row, operation_row

L = TypeVar("L", bound=Ledger)
_MOST = 1_000_000
"""Messages, generations and entries that all ledgers together may hold: about 250 MB."""
_TRIM_EVERY = 64


class Ledgers(Generic[L]):
    """The ledgers of the most recently written conversations. Only the writer's thread uses them."""

    def __init__(self) -> None:
        self._held: OrderedDict[ConversationId, L] = OrderedDict()
        self._groups = 0

    def find(self, id: ConversationId) -> L | None:
        ledger = self._held.get(id)
        if ledger is not None:
            self._held.move_to_end(id)
        return ledger

    def hold(self, ledger: L) -> L:
        self._held[ledger.id] = ledger
        return ledger

    def drop(self, ids: Iterable[ConversationId]) -> None:
        for id in ids:
            self._held.pop(id, None)

    def trim(self) -> None:
        """Evict ledgers. Call this only between groups: a group's ledgers must stay."""
        self._groups += 1
        if self._groups % _TRIM_EVERY:
            return
        held = sum(ledger.weight for ledger in self._held.values())
        while held > _MOST and len(self._held) > 1:
            _, ledger = self._held.popitem(last=False)
            held -= ledger.weight


class Group(ABC, Generic[L]):
    """What a group of requests will have changed once it is durable."""

    @abstractmethod
    def ledger(self, id: ConversationId) -> L | None:
        """The ledger of a conversation as the group has it so far; None for an unknown id."""

    @abstractmethod
    def begin(self, id: ConversationId) -> L:
        """The ledger of a conversation that the group begins."""

    @abstractmethod
    def add_row(self, ledger: L, table: str, row: Row) -> None:
        """Add a row, given but for its conversation, to one of the tables `messages`, `segments` and `operations`."""

    @abstractmethod
    def add_changes(self, ledger: L, operation: Operation) -> None:
        """Add the changed entries of an operation, before the ledger follows it."""

    @abstractmethod
    def add_rest(self, ledger: L, part: ConversationPart, *, in_bulk: bool) -> None:
        """Add the model calls and derived values of a part, once its messages and operations are added."""

    @abstractmethod
    def stored_operation(self, ledger: L, number: int) -> Operation | None:
        """An operation that is stored; None if there is none with this number."""

    @abstractmethod
    def last_to_move(self, ledger: L, key: str) -> int | None:
        """The number of the last stored operation whose changes have this text."""

    def decide(self, commit: Commit) -> Operation:
        """Stage a commit and return the operation it becomes. On an error that `Store.commit` documents, nothing is
        staged.
        """
        check_form(commit)
        id = commit.conversation
        ledger = self.ledger(id)
        if ledger is None and commit.verb not in FOUNDING_VERBS:
            raise no_conversation(id)
        base = ledger or Ledger(id)
        key = changed_key(commit, base.entries)
        if key is not None:
            raise outdated(key, self._mover(ledger, key))
        if commit.expected is not None and commit.expected != base.version:
            raise outdated("", self._operation(ledger, commit.expected + 1))
        fresh = tuple(unstored(commit.messages, base.places.numbers).values())
        operation = next_operation(commit, number=base.version + 1, previous=base.last)
        part = ConversationPart(id, fresh, (operation,), commit.generations, commit.derived)
        self._stage(part, ledger, in_bulk=commit.in_bulk)
        return operation

    def decide_parts(self, parts: Sequence[ConversationPart]) -> None:
        """Stage parts of conversations of another store. On an error that `MovableStore.adopt` documents, nothing is
        staged.
        """
        checked: list[tuple[ConversationPart, L | None]] = []
        for part in parts:
            ledger = self.ledger(part.conversation)
            base = ledger or Ledger(part.conversation)
            check_part(part, version=base.version, last=base.last)
            fresh = tuple(unstored(part.messages, base.places.numbers).values())
            checked.append((replace(part, messages=fresh), ledger))
        for part, ledger in checked:
            if part.messages or part.operations or part.generations or part.derived:
                self._stage(part, ledger, in_bulk=True)

    def _stage(self, part: ConversationPart, known: L | None, *, in_bulk: bool) -> None:
        # What cannot be stored at all raises here, before anything is staged.
        bodies = [message_body(message) for message in part.messages]
        rows = [operation_row(operation) for operation in part.operations]
        ledger = known or self.begin(part.conversation)
        places = ledger.places
        for message, body in zip(part.messages, bodies, strict=True):
            segment, depth, origin = places.place(message.parent)
            if origin is not None:
                above, at = origin
                left = {"segment": segment, "parent_segment": above, "parent_depth": at}
                self.add_row(ledger, "segments", left)
            parent = places.numbers[message.parent] if message.parent is not None else None
            number = places.add(message.id, segment, depth)
            self.add_row(ledger, "messages", message_row(message, body, number, segment, depth, parent))
        for operation, row in zip(part.operations, rows, strict=True):
            self.add_row(ledger, "operations", row)
            self.add_changes(ledger, operation)
            ledger.take(operation)
        self.add_rest(ledger, part, in_bulk=in_bulk)

    def _mover(self, ledger: L | None, key: str) -> Operation | None:
        """The operation that last changed `key`."""
        if ledger is None:
            return None
        number = ledger.moved.get(key) or self.last_to_move(ledger, f"[{canonical_json(key)},")
        return self._operation(ledger, number) if number is not None else None

    def _operation(self, ledger: L | None, number: int) -> Operation | None:
        if ledger is None:
            return None
        return ledger.recent.get(number) or self.stored_operation(ledger, number)
