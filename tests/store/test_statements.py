"""Every statement is planned by DuckDB against the tables of today."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy.sql.expression import ClauseElement

from forky_core.model.errors import StoreError
from forky_core.store.duckdb.file.database import DatabaseFile
from forky_core.store.duckdb.file.migrations import migrate
from forky_core.store.duckdb.sql import document_statements, statements
from forky_core.store.duckdb.sql import tables as written_tables
from forky_core.store.duckdb.sql.source.compiling import sources
from forky_core.store.duckdb.sql.statement import (
    Family,
    SqlStatement,
    Table,
    counting_orphans,
    insertion,
    reading_all,
)

AN_ID = "0123456789abcdef0123456789abcdef"
NUMBERS = {
    *("after", "before", "conversation", "depth", "first", "here", "last", "least", "more_chunks"),
    *("more_terms", "most", "new_operation", "number", "segment", "skip", "started", "which"),
}
LISTS_OF_NUMBERS = {"conversations", "depths", "keys", "numbers", "operations", "segments", "terms"}
LISTS_OF_TEXTS = {"ids", "named", "values"}

TABLES = [value for value in vars(written_tables).values() if isinstance(value, Table)]
WITH_A_CONVERSATION = [table for table in TABLES if "conversation" in table.columns]


def compiled_ahead() -> Iterator[tuple[str, SqlStatement]]:
    """Each statement of the compiled modules; a family about one thing, and about two."""
    for module in (statements, document_statements):
        for name, value in vars(module).items():
            for at, one in enumerate(value if isinstance(value, tuple) else (value,)):
                label = f"{name}[{at}]" if isinstance(value, tuple) else name
                if isinstance(one, Family):
                    yield from ((f"{label} of {number}", one.of(number)) for number in (1, 2))
                elif isinstance(one, SqlStatement):
                    yield label, one


def made_of_tables() -> Iterator[tuple[str, str]]:
    """The texts that are made while Forky runs, from the names of tables and columns."""
    for table in TABLES:
        yield f"insertion {table.name}", insertion(table, 2)
        yield f"reading_all {table.name}", reading_all(table)
    conversations = written_tables.conversations
    for table in WITH_A_CONVERSATION:
        yield f"counting_orphans {table.name}", counting_orphans(table, conversations)


def written() -> Iterator[tuple[str, ClauseElement]]:
    """Each statement of the source."""
    for name, value in sources():
        if isinstance(value, tuple):
            yield from ((f"{name}[{at}]", one) for at, one in enumerate(value))
        else:
            yield name, value


COMPILED = dict(compiled_ahead())
MADE = dict(made_of_tables())
WRITTEN = dict(written())


def given(name: str) -> Any:
    """A plausible value for a parameter of this name; of a family's numbered ones, too."""
    name = re.sub(r"_\d+$", "", name)
    if name in NUMBERS:
        return 1
    if name in LISTS_OF_NUMBERS:
        return [1, 2]
    if name in LISTS_OF_TEXTS:
        return [AN_ID, AN_ID]
    return AN_ID if name not in {"is_whole", "workspace"} else True


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DatabaseFile]:
    """A database of the newest schema without a row of anybody's."""
    file = DatabaseFile(tmp_path_factory.mktemp("empty") / "forky.duckdb")
    migrate(file)
    yield file
    file.close()


@pytest.mark.parametrize("name", COMPILED)
def test_duckdb_can_plan_every_statement(empty: DatabaseFile, name: str) -> None:
    statement = COMPILED[name]
    values = {one: given(one) for one in statement.names if one not in statement.fixed}
    with empty.cursor() as cursor:
        assert cursor.execute(f"EXPLAIN {statement.text}", statement.values(**values)).fetchall()


@pytest.mark.parametrize("name", MADE)
def test_duckdb_can_plan_what_is_made_of_the_names_of_tables(empty: DatabaseFile, name: str) -> None:
    text = MADE[name]
    with empty.cursor() as cursor:
        assert cursor.execute(f"EXPLAIN {text}", [None] * text.count("?")).fetchall()


def test_no_statement_is_left_out_of_these_tests() -> None:
    """Families are two statements here and one in the source."""
    assert {name.partition(" of ")[0] for name in COMPILED} == set(WRITTEN)


def test_planning_a_statement_finds_a_column_that_is_missing(empty: DatabaseFile) -> None:
    broken = SqlStatement("SELECT shoe_size FROM forky.messages WHERE conversation = ?", ("conversation",))
    with pytest.raises(StoreError, match="shoe_size"), empty.cursor() as cursor:
        cursor.execute(f"EXPLAIN {broken.text}", [1])
