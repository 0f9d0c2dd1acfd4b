"""Deciding a group: each commit is checked against the ledgers and, if it passes, becomes rows of the batch.

Everything here happens in memory, before any SQL, so a lost race costs its author an error and the group nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import duckdb

from forky_core.model import ConversationId, Generation, Message, Operation
from forky_core.model.parts import canonical_json
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
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.cache.text_index import TextIndex
from forky_core.store.duckdb.file.database import DatabaseFile
from forky_core.store.duckdb.running import execute, fetch
from forky_core.store.duckdb.write.batch import Batch
from forky_core.store.duckdb.write.ledger import FileLedger, read_ledger
from forky_core.store.moving.contract import ConversationPart
from forky_core.store.rows import Row, message_body, message_row, operation_row, operations_from_rows

_LEDGER_WEIGHT = 1_000_000
"""Messages, generations and entries that all ledgers together may hold: about 250 MB."""

_TRIM_EVERY = 64


@dataclass(slots=True)
class Staged:
    """What a group will have changed once it is durable."""

    batch: Batch = field(default_factory=Batch)
    touched: dict[ConversationId, FileLedger] = field(default_factory=dict)
    born: set[ConversationId] = field(default_factory=set)
    fresh: dict[ConversationId, list[Message]] = field(default_factory=dict)
    in_bulk: set[ConversationId] = field(default_factory=set)
    """Conversations that are written only by commits that nobody is about to read."""
    continues: ConversationId | None = None
    """The one of these whose next part comes at once, so that its ledger is kept."""


class Ledgers:
    """The ledgers of the most recently written conversations."""

    def __init__(self, file: DatabaseFile) -> None:
        self._file = file
        self._held: OrderedDict[ConversationId, FileLedger] = OrderedDict()
        self._groups = 0
        self._numbers = 0
        """The highest number of a conversation; 0 if it is not known yet."""
        self._ids: TextIndex | None = None
        """Ids of conversations that the file may hold; None until they are read."""

    def find(self, cursor: duckdb.DuckDBPyConnection, id: ConversationId) -> FileLedger | None:
        ledger = self._held.get(id)
        if ledger is not None:
            self._held.move_to_end(id)
        else:
            with self._file.decoding():
                ledger = None if self._is_new(cursor, id) else read_ledger(cursor, id)
            if ledger is not None:
                self._held[id] = ledger
        return ledger

    def _is_new(self, cursor: duckdb.DuckDBPyConnection, id: ConversationId) -> bool:
        """Whether the file certainly lacks this conversation; asking the file for each takes a millisecond."""
        if self._ids is not None:
            return self._ids.lacks(id)
        known = TextIndex(lambda: ((str(id), n) for id, n in execute(cursor, sql.CONVERSATIONS).fetchall()))
        new = known.lacks(id)
        self._ids = known
        return new

    def begin(self, cursor: duckdb.DuckDBPyConnection, id: ConversationId) -> FileLedger:
        """A ledger for a new conversation; call `hold` to store it."""
        if not self._numbers:
            highest = execute(cursor, sql.LAST_CONVERSATION).fetchall()[0][0]
            self._numbers = highest or 0
        self._numbers += 1
        if self._ids is not None:
            self._ids.note(id, self._numbers)
        return FileLedger(id, conversation=self._numbers)

    def hold(self, ledger: FileLedger) -> None:
        self._held[ledger.id] = ledger

    def drop(self, ids: Iterable[ConversationId]) -> None:
        for id in ids:
            self._held.pop(id, None)

    def trim(self) -> None:
        """Evict ledgers. Call this only between groups: a group's ledgers must stay."""
        self._groups += 1
        if self._groups % _TRIM_EVERY:
            return
        held = sum(ledger.weight for ledger in self._held.values())
        while held > _LEDGER_WEIGHT and len(self._held) > 1:
            _, ledger = self._held.popitem(last=False)
            held -= ledger.weight


def stage_record(
    ledgers: Ledgers,
    staged: Staged,
    cursor: duckdb.DuckDBPyConnection,
    id: ConversationId,
    generation: Generation,
) -> None:
    ledger = ledgers.find(cursor, id)
    if ledger is None:
        raise no_conversation(id)
    staged.touched[id] = ledger
    staged.in_bulk.discard(id)
    _stage_generation(ledger, staged.batch, generation)


def _stage_generation(ledger: FileLedger, batch: Batch, generation: Generation) -> None:
    batch.generation(ledger.conversation, generation, new=generation.id not in ledger.generations)
    ledger.generations.add(generation.id)


def stage_commit(
    ledgers: Ledgers, staged: Staged, cursor: duckdb.DuckDBPyConnection, commit: Commit
) -> Operation:
    """Stage `commit` and return the operation it becomes. On an error that `Store.commit` documents,
    nothing is staged.
    """
    check_form(commit)
    ledger = ledgers.find(cursor, commit.conversation)
    new = ledger is None
    if ledger is None:
        if commit.verb not in FOUNDING_VERBS:
            raise no_conversation(commit.conversation)
        ledger = FileLedger(commit.conversation)
    key = changed_key(commit, ledger.entries)
    if key is not None:
        raise outdated(key, _mover(cursor, ledger, key))
    if commit.expected is not None and commit.expected != ledger.version:
        raise outdated("", _operation(cursor, ledger, commit.expected + 1))
    fresh = tuple(unstored(commit.messages, ledger.places.numbers).values())
    operation = next_operation(commit, number=ledger.version + 1, previous=ledger.last)
    bodies = [message_body(message) for message in fresh]
    row = operation_row(operation)
    if new:
        ledger = ledgers.begin(cursor, commit.conversation)
        ledgers.hold(ledger)
        staged.born.add(ledger.id)
        staged.batch.insert("conversations", {"conversation": ledger.conversation, "id": ledger.id})
    _stage(ledger, staged, commit, operation, list(zip(fresh, bodies, strict=True)), row)
    return operation


def _stage(
    ledger: FileLedger,
    staged: Staged,
    commit: Commit,
    operation: Operation,
    fresh: list[tuple[Message, tuple[str, str | None]]],
    row: Row,
) -> None:
    batch, here = staged.batch, ledger.conversation
    for message, body in fresh:
        _stage_message(ledger, batch, message, body)
    for generation in commit.generations:
        _stage_generation(ledger, batch, generation)
    for key, value in commit.derived.items():
        batch.derive(here, key, value, new=ledger.id in staged.born)
    _stage_operation(ledger, batch, operation, row)
    if commit.in_bulk and ledger.id not in staged.touched:
        staged.in_bulk.add(ledger.id)
    elif not commit.in_bulk:
        staged.in_bulk.discard(ledger.id)
    staged.touched[ledger.id] = ledger
    staged.fresh.setdefault(ledger.id, []).extend(message for message, _ in fresh)


def _stage_operation(ledger: FileLedger, batch: Batch, operation: Operation, row: Row) -> None:
    here = ledger.conversation
    batch.insert("operations", {"conversation": here, **row})
    for change in operation.changes:
        if change.after is not None or change.key in ledger.entries:
            batch.change(
                here,
                change.key,
                stored=change.key in ledger.entries,
                value=change.after,
                operation=operation.number,
            )
        if change.after is None:
            ledger.entries.pop(change.key, None)
        else:
            ledger.entries[change.key] = change.after
    ledger.take(operation)


def stage_parts(
    ledgers: Ledgers, staged: Staged, cursor: duckdb.DuckDBPyConnection, parts: Sequence[ConversationPart]
) -> None:
    """Stage parts of conversations of another store. On an error that `MovableStore.adopt` documents, nothing is."""
    checked: list[tuple[ConversationPart, FileLedger | None, tuple[Message, ...]]] = []
    for part in parts:
        ledger = ledgers.find(cursor, part.conversation)
        base = ledger or FileLedger(part.conversation)
        check_part(part, version=base.version, last=base.last)
        checked.append((part, ledger, tuple(unstored(part.messages, base.places.numbers).values())))
    for part, found, fresh in checked:
        if not (fresh or part.operations or part.generations or part.derived):
            continue
        ledger = found or ledgers.begin(cursor, part.conversation)
        if found is None:
            ledgers.hold(ledger)
            staged.born.add(ledger.id)
            staged.batch.insert("conversations", {"conversation": ledger.conversation, "id": ledger.id})
        for message in fresh:
            _stage_message(ledger, staged.batch, message, message_body(message))
        for operation in part.operations:
            _stage_operation(ledger, staged.batch, operation, operation_row(operation))
        for generation in part.generations:
            _stage_generation(ledger, staged.batch, generation)
        for key, value in part.derived.items():
            staged.batch.derive(ledger.conversation, key, value, new=ledger.id in staged.born)
        if ledger.id not in staged.touched:
            staged.in_bulk.add(ledger.id)
        staged.touched[ledger.id] = ledger
        staged.fresh.setdefault(ledger.id, []).extend(fresh)
        staged.continues = ledger.id


def _stage_message(ledger: FileLedger, batch: Batch, message: Message, body: tuple[str, str | None]) -> None:
    places = ledger.places
    segment, depth, origin = places.place(message.parent)
    here = {"conversation": ledger.conversation}
    if origin is not None:
        above, at = origin
        batch.insert("segments", {**here, "segment": segment, "parent_segment": above, "parent_depth": at})
    parent = places.numbers[message.parent] if message.parent is not None else None
    number = places.add(message.id, segment, depth)
    batch.insert("messages", {**here, **message_row(message, body, number, segment, depth, parent)})


def _mover(cursor: duckdb.DuckDBPyConnection, ledger: FileLedger, key: str) -> Operation | None:
    """The operation that last changed `key`."""
    number = ledger.moved.get(key)
    if number is None:
        given = {"conversation": ledger.conversation, "key": _quoted(key)}
        number = execute(cursor, sql.LAST_TO_MOVE, **given).fetchall()[0][0]
    return _operation(cursor, ledger, number) if number is not None else None


def _operation(cursor: duckdb.DuckDBPyConnection, ledger: FileLedger, number: int) -> Operation | None:
    if number in ledger.recent:
        return ledger.recent[number]
    given = {"conversation": ledger.conversation, "first": max(number - 1, 1)}
    rows = fetch(cursor, sql.OPERATIONS, **given)
    found = operations_from_rows(ledger.id, rows[: 1 if number == 1 else 2], None)
    return found[-1] if found else None


def _quoted(key: str) -> str:
    """The text with which a change of this key begins in the stored JSON."""
    return f"[{canonical_json(key)},"
