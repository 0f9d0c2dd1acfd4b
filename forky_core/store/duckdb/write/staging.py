"""What a group adds to the file: rows of its batch, and what readers will be shown of them."""

from __future__ import annotations

from collections.abc import Iterable

import duckdb

from forky_core.model import ConversationId, Generation, Message, Operation
from forky_core.store.base.staging import Group, Ledgers
from forky_core.store.deciding import no_conversation
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.cache.text_index import TextIndex
from forky_core.store.duckdb.file.database import DatabaseFile
from forky_core.store.duckdb.running import execute, fetch
from forky_core.store.duckdb.write.batch import Batch
from forky_core.store.duckdb.write.ledger import FileLedger, read_ledger
from forky_core.store.moving.contract import ConversationPart
from forky_core.store.rows import Row, operations_from_rows


class FileLedgers(Ledgers[FileLedger]):
    def __init__(self, file: DatabaseFile) -> None:
        super().__init__()
        self._file = file
        self._numbers = 0
        """The highest number of a conversation; 0 if it is not known yet."""
        self._ids: TextIndex | None = None
        """Ids of conversations that the file may hold; None until they are read."""

    def read(self, cursor: duckdb.DuckDBPyConnection, id: ConversationId) -> FileLedger | None:
        ledger = self.find(id)
        if ledger is None:
            with self._file.decoding():
                ledger = None if self._is_new(cursor, id) else read_ledger(cursor, id)
            if ledger is not None:
                self.hold(ledger)
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
        """A ledger for a new conversation."""
        if not self._numbers:
            highest = execute(cursor, sql.LAST_CONVERSATION).fetchall()[0][0]
            self._numbers = highest or 0
        self._numbers += 1
        if self._ids is not None:
            self._ids.note(id, self._numbers)
        return self.hold(FileLedger(id, conversation=self._numbers))


class FileGroup(Group[FileLedger]):
    def __init__(self, ledgers: FileLedgers, cursor: duckdb.DuckDBPyConnection) -> None:
        self._ledgers = ledgers
        self._cursor = cursor
        self.batch = Batch()
        self.touched: dict[ConversationId, FileLedger] = {}
        self.born: set[ConversationId] = set()
        self.fresh: dict[ConversationId, list[Message]] = {}
        self.in_bulk: set[ConversationId] = set()
        """Conversations that are written only by commits that nobody is about to read."""
        self.continues: ConversationId | None = None
        """The one of these whose next part comes at once, so that its ledger is kept."""

    def ledger(self, id: ConversationId) -> FileLedger | None:
        return self._ledgers.read(self._cursor, id)

    def begin(self, id: ConversationId) -> FileLedger:
        ledger = self._ledgers.begin(self._cursor, id)
        self.born.add(id)
        self.batch.insert("conversations", {"conversation": ledger.conversation, "id": id})
        return ledger

    def add_row(self, ledger: FileLedger, table: str, row: Row) -> None:
        self.batch.insert(table, {"conversation": ledger.conversation, **row})

    def add_changes(self, ledger: FileLedger, operation: Operation) -> None:
        for change in operation.changes:
            stored = change.key in ledger.entries
            if change.after is not None or stored:
                self.batch.change(
                    ledger.conversation,
                    change.key,
                    stored=stored,
                    value=change.after,
                    operation=operation.number,
                )
            if change.after is None:
                ledger.entries.pop(change.key, None)
            else:
                ledger.entries[change.key] = change.after

    def add_rest(self, ledger: FileLedger, part: ConversationPart, *, in_bulk: bool) -> None:
        self._add_calls(ledger, part.generations)
        for key, value in part.derived.items():
            self.batch.derive(ledger.conversation, key, value, new=ledger.id in self.born)
        if not in_bulk:
            self.in_bulk.discard(ledger.id)
        elif ledger.id not in self.touched:
            self.in_bulk.add(ledger.id)
        self.touched[ledger.id] = ledger
        self.fresh.setdefault(ledger.id, []).extend(part.messages)

    def record(self, id: ConversationId, generation: Generation) -> None:
        ledger = self.ledger(id)
        if ledger is None:
            raise no_conversation(id)
        self.touched[id] = ledger
        self.in_bulk.discard(id)
        self._add_calls(ledger, [generation])

    def _add_calls(self, ledger: FileLedger, generations: Iterable[Generation]) -> None:
        for generation in generations:
            self.batch.generation(
                ledger.conversation, generation, new=generation.id not in ledger.generations
            )
            ledger.generations.add(generation.id)

    def stored_operation(self, ledger: FileLedger, number: int) -> Operation | None:
        given = {"conversation": ledger.conversation, "first": max(number - 1, 1), "last": number}
        rows = fetch(self._cursor, sql.OPERATIONS, **given)
        found = operations_from_rows(ledger.id, rows, None)
        return found[-1] if found else None

    def last_to_move(self, ledger: FileLedger, key: str) -> int | None:
        given = {"conversation": ledger.conversation, "json": key}
        number: int | None = execute(self._cursor, sql.LAST_TO_MOVE, **given).fetchall()[0][0]
        return number
