"""Asking DuckDB: each text is parsed once in the life of the process.

Of a durable append, parsing is a sixth; of a small question a tenth to a third. DuckDB copies what it has parsed before
it binds it, so that one serves all cursors, of all files and threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb

from forky_core.store.duckdb.sql.statement import SqlStatement

_KEPT = 250
"""Texts, of 35 kB at most: there are some hundred, and of families one for each number of things."""
_parsed: dict[str, duckdb.Statement] = {}


def execute(
    cursor: duckdb.DuckDBPyConnection, statement: SqlStatement, **given: Any
) -> duckdb.DuckDBPyConnection:
    """The cursor, to fetch from; `given` has a value for each of the statement's parameters."""
    return execute_text(cursor, statement.text, statement.values(**given))


def execute_text(
    cursor: duckdb.DuckDBPyConnection, text: str, values: Sequence[Any]
) -> duckdb.DuckDBPyConnection:
    """One statement, with a value for each question mark."""
    statement = _parsed.get(text)
    if statement is None:
        (statement,) = cursor.extract_statements(text)
        if len(_parsed) >= _KEPT:
            _parsed.clear()
        _parsed[text] = statement
    return cursor.execute(statement, values)
