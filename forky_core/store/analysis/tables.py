"""What the views show, written to Parquet files: a consistent copy while everybody goes on working."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import duckdb

from forky_core.model import ConversationId
from forky_core.store.analysis.views import SCHEMA, TABLES

_CHOSEN = "(SELECT coalesce(list(id), []) FROM chosen)"


def write_tables(
    cursor: duckdb.DuckDBPyConnection, folder: Path, conversations: Collection[ConversationId] | None = None
) -> None:
    """Write each table of the database that is attached as `forky` to `<table>.parquet` in an existing folder, all as
    of one moment.

    With `conversations`, only what belongs to those, and the documents that they name. Where it fails, some files may
    have been written.
    """
    if conversations is not None:
        cursor.execute("CREATE TEMP TABLE chosen (id TEXT)")
        cursor.execute("INSERT INTO chosen SELECT unnest($1::TEXT[])", [list(conversations)])
    cursor.execute("BEGIN TRANSACTION")
    for table in TABLES:
        cursor.execute(f"COPY ({_rows(table, chosen=conversations is not None)}) TO {_quoted(folder, table)}")
    cursor.execute("COMMIT")


def _rows(table: str, *, chosen: bool) -> str:
    """The statement that reads a table's rows in an order that stays."""
    kept, where = "*", ""
    if chosen and table == "documents":
        kept = f"* REPLACE (list_sort(list_intersect(conversations, {_CHOSEN})) AS conversations)"
        where = f"WHERE list_has_any(conversations, {_CHOSEN})"
    elif chosen:
        where = "WHERE conversation IN (SELECT id FROM chosen)"
    return f"SELECT {kept} FROM forky.{SCHEMA}.{table} {where} ORDER BY ALL"  # noqa: S608 - names of our own


def _quoted(folder: Path, table: str) -> str:
    path = str(folder / f"{table}.parquet").replace("'", "''")
    return f"'{path}' (FORMAT parquet, COMPRESSION zstd)"
