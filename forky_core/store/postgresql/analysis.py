"""Reads the rows for the tables for analysis from PostgreSQL, all as of one moment while others write."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

from forky_core.model import ConversationId
from forky_core.store.analysis.temporary import TemporaryTables, temporary_tables
from forky_core.store.postgresql import statements as sql
from forky_core.store.postgresql.connection import Connection
from forky_core.store.postgresql.database import Database
from forky_core.store.postgresql.texts import said_in_duckdb

_TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "messages": ("text",),
    "operations": ("actor", "verb", "summary"),
    "entries": ("key",),
    "generations": ("id", "status", "model"),
    "documents": ("name", "media_type"),
}
"""The columns whose texts may hold an escape. JSON has one of its own."""
_ROWS: Final[Mapping[str, str]] = {
    "conversations": sql.ANALYSED_CONVERSATIONS,
    "messages": sql.ANALYSED_MESSAGES,
    "segments": sql.ANALYSED_SEGMENTS,
    "operations": sql.ANALYSED_OPERATIONS,
    "entries": sql.ANALYSED_ENTRIES,
    "generations": sql.ANALYSED_GENERATIONS,
    "documents": sql.ANALYSED_DOCUMENTS,
}


def write_analysis_tables(
    database: Database, folder: Path, conversations: Collection[ConversationId] | None = None
) -> None:
    """Write each table for analysis to `<table>.parquet` in an existing folder, all as of one moment.

    With `conversations`, only what belongs to those, and the documents that they name.

    Raises:
        StoreError: the server cannot be reached or asked, or there is no room. Some files may have been written.
    """
    with temporary_tables(folder) as tables:
        read_rows(database, tables, conversations)
        tables.write(folder, conversations)


def read_rows(
    database: Database, tables: TemporaryTables, conversations: Collection[ConversationId] | None = None
) -> None:
    """Put the rows of a workspace, or of some of its conversations, into the tables, all as of one moment.

    They are streamed: memory does not grow with the workspace.

    Raises:
        StoreError: the server cannot be reached or asked, or there is no room.
    """
    chosen = None if conversations is None else list(conversations)
    given = {"workspace": database.workspace, "conversations": chosen}

    def read(connection: Connection) -> None:
        for table, statement in _ROWS.items():
            decoded = {name: said_in_duckdb(f"r.{name}") for name in _TEXTS.get(table, ())}
            tables.fill(table, _csv(connection, statement, given), decoded=decoded)

    database.at_once(read)


def _csv(
    connection: Connection, statement: str, given: Mapping[str, object]
) -> Iterator[bytes | bytearray | memoryview]:
    """The rows of a statement as lines of CSV, as they arrive."""
    with connection.cursor().copy(f"COPY ({statement}) TO STDOUT (FORMAT csv)", given) as rows:
        yield from rows
