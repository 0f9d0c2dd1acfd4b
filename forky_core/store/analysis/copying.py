"""One file of the tables for analysis: a database with a schema `forky_v1`, or a ZIP archive of Parquet files."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

import duckdb

from forky_core.store.analysis.failures import explained
from forky_core.store.analysis.views import SCHEMA, TABLES
from forky_core.store.contract import CopyForm, Redaction

_BLOCK_SIZE = 65536
"""A quarter of DuckDB's own, as Forky's files have: a small copy takes a quarter of the room."""
_ROWS = 5_000
"""Rows whose texts are looked through at a time."""
_IDS = frozenset({
    "conversation", "message", "parent", "merge_parents", "head", "question", "answer", "generation", "reused",
    "cites", "omitted", "cited", "source_conversation", "operation", "document", "conversations",
})  # fmt: skip
"""Columns of ids, in which nothing private can be."""


def make_copy(tables: Path, folder: Path, form: CopyForm, redaction: Redaction | None = None) -> Path:
    """Make one file of the Parquet files that `write_tables` wrote to `tables`, in another folder.

    Raises:
        StoreError: there is no room for it.
    """
    with explained("The copy could not be made"):
        if form == "duckdb":
            return _database(tables, folder, redaction)
        if redaction is not None:
            redact_tables(tables, folder, redaction)
        return _archive(tables, folder)


def redact_tables(tables: Path, folder: Path, redaction: Redaction) -> None:
    """Put placeholders into the Parquet files that `write_tables` wrote to `tables`; `folder` is for the work.

    Raises:
        StoreError: there is no room for it.
    """
    with explained("Private values could not be replaced"):
        made = _database(tables, folder, redaction)
        with duckdb.connect(str(made), read_only=True) as connection:
            for table in TABLES:
                to = str(tables / f"{table}.parquet").replace("'", "''")
                rows = f"FROM {SCHEMA}.{table} ORDER BY ALL"
                connection.execute(f"COPY ({rows}) TO '{to}' (FORMAT parquet, COMPRESSION zstd)")
        made.unlink()


def _database(tables: Path, folder: Path, redaction: Redaction | None) -> Path:
    made = folder / "copy.duckdb"
    with duckdb.connect(str(made), config={"default_block_size": _BLOCK_SIZE}) as connection:
        connection.execute(f"CREATE SCHEMA {SCHEMA}")
        for table in TABLES:
            source = str(tables / f"{table}.parquet").replace("'", "''")
            connection.execute(f"CREATE TABLE {SCHEMA}.{table} AS SELECT * FROM '{source}'")  # noqa: S608 - as below
            connection.execute(f"COMMENT ON TABLE {SCHEMA}.{table} IS 'docs/analysis.md'")
        if redaction is not None:
            _redact(connection, redaction)
    return made


def _archive(tables: Path, folder: Path) -> Path:
    """One archive of all tables. Parquet files are compressed already."""
    made = folder / "copy.zip"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for table in TABLES:
            archive.write(tables / f"{table}.parquet", f"{table}.parquet")
    return made


def _redact(connection: duckdb.DuckDBPyConnection, redaction: Redaction) -> None:
    """Put a placeholder for each private value, the same one in every table."""
    columns = _texts(connection)
    texts = (text for column in columns for _, value in _values(connection, column) for text in _each(value))
    word = redaction(texts)
    for column in columns:
        table, name, _ = column
        changed = [
            (new, row)
            for row, value in _values(connection, column)
            if (new := _reworded(value, word)) != value
        ]
        if changed:
            connection.executemany(f'UPDATE {SCHEMA}.{table} SET "{name}" = ? WHERE rowid = ?', changed)  # noqa: S608 - names of our own
    connection.execute("CHECKPOINT")


def _texts(connection: duckdb.DuckDBPyConnection) -> Sequence[tuple[str, str, str]]:
    """Table, name and type of each column that holds words."""
    rows = connection.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE schema_name = ? "
        "AND data_type IN ('VARCHAR', 'VARCHAR[]') ORDER BY table_name, column_index",
        [SCHEMA],
    ).fetchall()
    return [(table, name, kind) for table, name, kind in rows if name not in _IDS]


def _values(
    connection: duckdb.DuckDBPyConnection, column: tuple[str, str, str]
) -> Iterator[tuple[int, str | list[str]]]:
    """Each row's number and value, without those that are empty."""
    table, name, _ = column
    cursor = connection.cursor()
    cursor.execute(f'SELECT rowid, "{name}" FROM {SCHEMA}.{table} WHERE "{name}" IS NOT NULL')  # noqa: S608 - as above
    while rows := cursor.fetchmany(_ROWS):
        yield from rows


def _each(value: str | list[str]) -> Collection[str]:
    return (value,) if isinstance(value, str) else value


def _reworded(value: str | list[str], word: Callable[[str], str]) -> str | list[str]:
    return word(value) if isinstance(value, str) else [word(one) for one in value]
