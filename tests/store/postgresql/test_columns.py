# ruff: noqa: S608 - the tables and columns are our own
"""The tables have the columns that DuckDB's have, and each column of a text gives back any text; what was forgotten is
named.
"""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from forky_core.store.duckdb.file.database import DatabaseFile
from forky_core.store.duckdb.file.migrations import migrate
from forky_core.store.postgresql.store import PostgresStore
from forky_core.store.postgresql.texts import kept
from tests.store.columns import NO_WORDS, TEXTS, differences, lacking, read, refuses_half_a_pair, written

COLUMNS = (
    "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'forky'"
)
DUCKDB = "SELECT table_name, column_name FROM duckdb_columns() WHERE database_name = 'forky'"
OURS = frozenset(
    {"workspace", "conversation", "process", "process_schemas", "document", "former", "outside", "migrations"}
)
"""Columns and tables of texts that are the store's own: names of workspaces, of conversations, of processes."""
PROGRESS = frozenset({"progress.id", "progress.status"})
DIFFERENT = {
    "blobs": {"+outside", "+workspace"},
    "chunks": {"+length", "+workspace"},
    "conversations": {
        *("-id", "+workspace", "+version", "+last", "+created", "+updated", "+messages", "+segments"),
        *("+erasures", "+born"),
    },
    "derived": {"+workspace"},
    "documents": {"-document", "+born", "+workspace"},
    "entries": {"+workspace"},
    "generations": {"+former", "+process", "+workspace"},
    "messages": {"+workspace"},
    "migrations": {"+usable_from"},
    "operations": {"+workspace"},
    "postings": {"-length", "+workspace"},
    "segments": {"+workspace"},
    "settings": {"+workspace"},
    "vectors": {"+workspace"},
}
"""What PostgreSQL's tables have beyond DuckDB's (+) and not (-). It has no packs, and keeps processes and progress."""


def columns_of(url: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    with psycopg.connect(url) as connection:
        for table, column, _ in connection.execute(COLUMNS).fetchall():
            found.setdefault(table, set()).add(column)
    return found


def test_the_tables_have_the_columns_of_duckdbs(shared: str, tmp_path: Path) -> None:
    file = DatabaseFile(tmp_path / "forky.duckdb")
    migrate(file)
    beside: dict[str, set[str]] = {}
    for table, column in file.rows(DUCKDB):
        beside.setdefault(table, set()).add(column)
    file.close()
    here = columns_of(shared)
    differences = {
        table: {f"+{name}" for name in here[table] - beside[table]}
        | {f"-{name}" for name in beside[table] - here[table]}
        for table in here.keys() & beside.keys()
    }
    assert differences == DIFFERENT
    assert beside.keys() - here.keys() == {"packs"}
    assert here["progress"] == here["generations"], "progress holds what a running call will be"


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_text_column_gives_back_what_was_written(store: PostgresStore, url: str, text: str) -> None:
    expected = written(store, text)
    with psycopg.connect(url, options="-c forky.workspace=main") as connection:
        columns = {
            f"{table}.{column}": [
                row[0] for row in connection.execute(f"SELECT {column} FROM forky.{table}").fetchall()
            ]
            for table, column, kind in connection.execute(COLUMNS).fetchall()
            if kind == "text" and not OURS & {table, column}
        }
    assert (
        lacking({name: columns[name] for name in set(columns) - NO_WORDS - PROGRESS}, text, kept(text))
        == set()
    )
    with PostgresStore.open(url) as again:
        assert differences(expected, read(again)) == []


def test_half_a_pair_of_surrogates_is_refused_and_changes_nothing(store: PostgresStore) -> None:
    refuses_half_a_pair(store)
