"""The writer's in-memory state of a conversation it writes to, so that races are decided before any SQL runs.

Only the writer thread reads or changes a ledger. It always equals the file's state once the current group is durable;
if a group fails, its ledgers are discarded and read again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import duckdb

from forky_core.model import ConversationId, ConversationSummary, Operation, View
from forky_core.model.parts import Json
from forky_core.store.duckdb.sql import statements as sql
from forky_core.store.duckdb.sql.running import execute
from forky_core.store.duckdb.sql.statement import SqlStatement
from forky_core.store.rows import Row, id_from_key
from forky_core.store.segments import Places
from forky_core.store.summary import summary_of


@dataclass(slots=True)
class Ledger:
    id: ConversationId
    conversation: int
    """Its number inside the file."""
    entries: dict[str, Json] = field(default_factory=dict)
    moved: dict[str, int] = field(default_factory=dict)
    """Key → number of the operation that last changed it; keys removed before this process started are absent."""
    recent: dict[int, Operation] = field(default_factory=dict)
    """Operations made since the ledger was read, to tell the losers of a race what came first."""
    version: int = 0
    last: str | None = None
    """Id of the last operation; None before the first."""
    created: int = 0
    """When the first operation was made, and when the last; microseconds since the epoch, UTC."""
    updated: int = 0
    places: Places = field(default_factory=Places)
    generations: set[str] = field(default_factory=set)

    def take(self, operation: Operation) -> None:
        """Advance the ledger by `operation`."""
        for change in operation.changes:
            if change.after is None:
                self.entries.pop(change.key, None)
            else:
                self.entries[change.key] = change.after
            self.moved[change.key] = operation.number
        self.recent[operation.number] = operation
        self.recent.pop(operation.number - _RECENT, None)
        self.version = operation.number
        self.last = operation.id
        self.updated = operation.at
        if operation.number == 1:
            self.created = operation.at

    def view(self) -> View:
        return View(MappingProxyType(dict(self.entries)), self.version)

    def summary(self) -> ConversationSummary:
        return summary_of(
            self.id,
            self.entries,
            self.moved.__getitem__,
            created=self.created,
            updated=self.updated,
            messages=len(self.places.numbers),
        )

    @property
    def weight(self) -> int:
        """Approximate number of things it holds."""
        return len(self.places.numbers) + len(self.generations) + len(self.entries) + 1


_RECENT = 256


def stored_entries(rows: Iterable[Row]) -> Mapping[str, Json]:
    return {key: json.loads(value) for key, value, _ in rows}


def read_ledger(cursor: duckdb.DuckDBPyConnection, id: ConversationId) -> Ledger | None:
    """Read the ledger of a stored conversation; None for an unknown id."""

    def rows(statement: SqlStatement, **given: object) -> list[Row]:
        return execute(cursor, statement, **given).fetchall()

    found = rows(sql.CONVERSATION, id=id)
    if not found:
        return None
    ((_, here),) = found
    ledger = Ledger(id, here)
    for key, value, number in rows(sql.ENTRIES, conversation=here):
        ledger.entries[key] = json.loads(value)
        ledger.moved[key] = number
    for number, operation, first, last in rows(sql.ENDS_OF_LOG, conversation=here):
        if number is not None:
            ledger.version, ledger.last = number, id_from_key(operation)
            ledger.created, ledger.updated = first, last
    for message, segment, depth in rows(sql.PLACES, conversation=here):
        ledger.places.add(id_from_key(message), segment, depth)
    ledger.generations.update(row[0] for row in rows(sql.GENERATION_IDS, conversation=here))
    return ledger
