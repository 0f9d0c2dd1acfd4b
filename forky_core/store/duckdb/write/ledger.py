"""What the writer remembers of a conversation in the file, and how it is read.

It always equals the file's state once the current group is durable; if a group fails, its ledgers are discarded and
read again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import duckdb

from forky_core.model import ConversationId
from forky_core.model.parts import Json
from forky_core.store.base.ledger import Ledger
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.running import execute
from forky_core.store.rows import id_from_key


@dataclass(slots=True)
class FileLedger(Ledger):
    conversation: int = 0
    """Its number inside the file."""
    generations: set[str] = field(default_factory=set)

    @property
    def weight(self) -> int:
        return super(FileLedger, self).weight + len(self.generations)


def stored_entries(rows: Iterable[tuple[str, str, int]]) -> Mapping[str, Json]:
    return {key: json.loads(value) for key, value, _ in rows}


def read_ledger(cursor: duckdb.DuckDBPyConnection, id: ConversationId) -> FileLedger | None:
    """Read the ledger of a stored conversation; None for an unknown id."""

    def rows(statement: str, **given: object) -> list[tuple[Any, ...]]:
        return execute(cursor, statement, **given).fetchall()

    found = rows(sql.CONVERSATION, id=id)
    if not found:
        return None
    ((_, here),) = found
    ledger = FileLedger(id, conversation=here)
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
