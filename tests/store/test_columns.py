# ruff: noqa: S608 - the tables and columns are our own
"""Each column of a text gives back any text, and the stores have the same columns; what was forgotten is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.memory.store import MemoryStore
from forky_core.store.rows import GENERATION_COLUMNS
from tests.store.columns import NO_WORDS, TEXTS, differences, lacking, read, refuses_half_a_pair, written

TEXT_COLUMNS = """SELECT table_name, column_name FROM duckdb_columns()
WHERE database_name = 'forky' AND data_type = 'VARCHAR'"""
COLUMNS = "SELECT column_name FROM duckdb_columns() WHERE database_name = 'forky' AND table_name = $table"


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_text_column_gives_back_what_was_written(store: DuckDBStore, path: Path, text: str) -> None:
    expected = written(store, text)
    columns = {
        f"{table}.{column}": [row[0] for row in store._file.rows(f"SELECT {column} FROM forky.{table}")]
        for table, column in store._file.rows(TEXT_COLUMNS)
    }
    assert set(columns) >= NO_WORDS, "these are columns still"
    assert lacking({name: columns[name] for name in set(columns) - NO_WORDS}, text, text) == set()
    store.close()
    with DuckDBStore.open(path) as again:
        assert differences(expected, read(again)) == []


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_so_does_the_store_in_memory(text: str) -> None:
    store = MemoryStore()
    assert differences(written(store, text), read(store)) == []


def test_half_a_pair_of_surrogates_is_refused_and_changes_nothing(store: DuckDBStore) -> None:
    refuses_half_a_pair(store)


def test_a_model_call_has_the_columns_that_every_store_writes(store: DuckDBStore) -> None:
    columns = {name for (name,) in store._file.rows(COLUMNS, table="generations")}
    assert columns == {"conversation", *GENERATION_COLUMNS}
