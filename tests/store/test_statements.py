"""Every statement is one that DuckDB plans against the tables of today."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from forky_core.store.duckdb import statements
from forky_core.store.duckdb.file.database import DatabaseFile
from forky_core.store.duckdb.file.migrations import migrate
from forky_core.store.duckdb.running import Step, append, as_one, execute, insertion, update

COLUMNS = """SELECT table_name, list(column_name ORDER BY column_index) FROM duckdb_columns()
WHERE database_name = 'forky' GROUP BY table_name"""


def written() -> Iterator[tuple[str, str]]:
    """Each statement by its name; those that are made for a number of things, for one and for two."""
    for name, value in vars(statements).items():
        if name.isupper() and not name.startswith("_"):
            match value:
                case str():
                    yield name, value
                case tuple():
                    yield from ((f"{name}[{at}]", text) for at, text in enumerate(value))
                case dict():
                    yield from ((f"{name}[{key}]", text) for key, text in value.items())
    for number in (1, 2):
        yield f"words_of({number})", statements.words_of(number)
        yield f"path_of({number})", statements.path_of(number)
        for within in statements._SEARCHED:
            yield f"search({number}, {within})", statements.search(number, within)


def of_tables(columns: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """The statements that are made of the names of tables and columns."""
    for table, names in columns.items():
        row = dict.fromkeys(names)
        yield f"insertion {table}", insertion(table, [row, row])[0]
        yield f"update {table}", update(table, row, (names[0],))[0]
    two: list[Step] = [(statements.DROP_ENTRY, {}), (statements.SET_MESSAGE, {})]
    yield "as_one", as_one(two)[0]


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[DatabaseFile]:
    """A database of the newest schema without a row of anybody's."""
    file = DatabaseFile(tmp_path / "forky.duckdb")
    migrate(file)
    yield file
    file.close()


def failures(file: DatabaseFile, texts: dict[str, str]) -> dict[str, str]:
    """What DuckDB says against each statement that it does not plan; one with nulls for its parameters."""
    found: dict[str, str] = {}
    with file.cursor() as cursor:
        for name, text in texts.items():
            given: dict[str, Any] = dict.fromkeys(re.findall(r"\$(\w+)", text))
            try:
                assert cursor.execute(f"EXPLAIN {text}", given or None).fetchall()
            except duckdb.Error as error:
                found[name] = str(error)
    return found


def test_duckdb_plans_every_statement(empty: DatabaseFile) -> None:
    columns = dict(empty.rows(COLUMNS))
    texts = dict([*written(), *of_tables(columns)])
    assert len(texts) > 120
    assert failures(empty, texts) == {}


def test_planning_a_statement_finds_a_column_that_is_missing(empty: DatabaseFile) -> None:
    broken = "SELECT shoe_size FROM forky.messages WHERE conversation = $conversation"
    found = failures(empty, {"BROKEN": broken, "SETTINGS": statements.SETTINGS})
    assert list(found) == ["BROKEN"] and "shoe_size" in found["BROKEN"]


def test_every_table_is_verified_and_those_of_conversations_are_purged(empty: DatabaseFile) -> None:
    columns = dict(empty.rows(COLUMNS))
    owned = {table for table, names in columns.items() if "conversation" in names}
    assert set(statements.READ_ALL) == set(columns)
    assert set(statements.ORPHANS) == owned - {"conversations"}
    assert {text.split()[2] for text in statements.PURGE} == {f"forky.{table}" for table in owned}


def test_rows_are_written_by_the_names_of_their_columns(empty: DatabaseFile) -> None:
    """In whatever order a row has them, by a statement, by the appender, and beside other steps."""
    rows = [
        {"value": "dark", "key": "theme"},
        {"value": "de", "key": "language"},
        {"value": "off", "key": "sound"},
    ]
    with empty.cursor() as cursor:
        execute(cursor, *insertion("settings", rows[:1]))
        append(cursor, "settings", rows[1:2])
        entry = {"operation": 3, "value": "1", "key": "count", "conversation": 7}
        execute(cursor, *as_one([insertion("settings", rows[2:]), insertion("entries", [entry])]))
        execute(cursor, *update("entries", entry | {"value": "2"}, ("conversation", "key")))
    assert empty.fetch(statements.SETTINGS) == sorted(rows, key=lambda row: row["key"])
    assert empty.fetch(statements.ENTRIES_NAMED, key="count") == [{"conversation": 7, "value": "2"}]
