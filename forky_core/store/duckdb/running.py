"""Asking DuckDB: each text is parsed once in the life of the process, rows have names, and are inserted by names.

Of a durable append, parsing is a sixth; of a small question a tenth to a third. DuckDB copies what it has parsed before
it binds it, so that one serves all cursors, of all files and threads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import duckdb

from forky_core.store.duckdb import statements
from forky_core.store.rows import Row

_KEPT = 250
"""Texts, of 35 kB at most: there are some hundred, and for insertions one for each number of rows."""
_PIECE = 2_000
_parsed: dict[str, duckdb.Statement] = {}

Step = tuple[str, Mapping[str, Any]]
"""A statement, and a value for each of its parameters."""


def execute(
    cursor: duckdb.DuckDBPyConnection, statement: str, given: Mapping[str, Any] | None = None, /, **more: Any
) -> duckdb.DuckDBPyConnection:
    """The cursor, to fetch from; `given` and `more` have a value for each of the statement's parameters."""
    parsed = _parsed.get(statement)
    if parsed is None:
        (parsed,) = cursor.extract_statements(statement)
        if len(_parsed) >= _KEPT:
            _parsed.clear()
        _parsed[statement] = parsed
    return cursor.execute(parsed, given or more or None)


def fetch(cursor: duckdb.DuckDBPyConnection, statement: str, **given: Any) -> list[Row]:
    """The rows of a statement, by the names of their columns."""
    execute(cursor, statement, **given)
    return _by_name(cursor, cursor.fetchall())


class FileSession:
    """A cursor as an `EngineSession` of the base."""

    sql = statements

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self.cursor = cursor

    def rows(self, statement: str, /, **given: Any) -> list[tuple[Any, ...]]:
        return execute(self.cursor, statement, **given).fetchall()

    def fetch(self, statement: str, /, **given: Any) -> list[Row]:
        return fetch(self.cursor, statement, **given)


def fetch_in_pieces(cursor: duckdb.DuckDBPyConnection, statement: str, **given: Any) -> Iterator[Row]:
    """As `fetch`; only some thousand rows are in memory at once."""
    for piece in pieces(execute(cursor, statement, **given)):
        yield from _by_name(cursor, piece)


def pieces(cursor: duckdb.DuckDBPyConnection) -> Iterator[list[tuple[Any, ...]]]:
    """The rows of a cursor, some thousand at a time."""
    while piece := cursor.fetchmany(_PIECE):
        yield piece


def _by_name(cursor: duckdb.DuckDBPyConnection, rows: Sequence[tuple[Any, ...]]) -> list[Row]:
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in rows]


def insertion(table: str, rows: Sequence[Row]) -> Step:
    """INSERT of these rows, which have the same columns."""
    given = {f"{name}_{at}": value for at, row in enumerate(rows) for name, value in row.items()}
    return _insertion(table, tuple(rows[0]), len(rows)), given


@lru_cache(maxsize=_KEPT)
def _insertion(table: str, columns: tuple[str, ...], rows: int) -> str:
    values = ", ".join(f"({', '.join(f'${name}_{at}' for name in columns)})" for at in range(rows))
    return f"INSERT INTO forky.{table} ({', '.join(columns)}) VALUES {values}"  # noqa: S608 - our own names


def insert(cursor: duckdb.DuckDBPyConnection, table: str, row: Row) -> None:
    """Insert one row."""
    execute(cursor, *insertion(table, [row]))


def write_setting(session: FileSession, key: str, value: str | None) -> None:
    """Set a setting, or remove it if `value` is None."""
    session.rows(statements.DROP_SETTING, key=key)
    if value is not None:
        insert(session.cursor, "settings", {"key": key, "value": value})


def append(cursor: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Row]) -> None:
    """Insert many rows, which have the same columns, at a hundredth of the cost of a statement each."""
    if rows:
        columns = list(rows[0])
        with cursor.appender(f"forky.{table}", columns=columns) as appender:
            appender.append_rows([tuple(map(row.__getitem__, columns)) for row in rows])


def update(table: str, row: Row, key: tuple[str, ...]) -> Step:
    """UPDATE of all other columns of the row that has these values in the columns of the key."""
    return _update(table, tuple(row), key), row


@cache
def _update(table: str, columns: tuple[str, ...], key: tuple[str, ...]) -> str:
    values = ", ".join(f"{name} = ${name}" for name in columns if name not in key)
    found = " AND ".join(f"{name} = ${name}" for name in key)
    return f"UPDATE forky.{table} SET {values} WHERE {found}"  # noqa: S608 - our own names


def as_one(steps: Sequence[Step]) -> Step:
    """One data-modifying statement made of steps on different tables; it is a transaction by itself."""
    *before, (last, _) = [(_numbered(text, at), given) for at, (text, given) in enumerate(steps)]
    heads = ", ".join(f"step_{at} AS ({text} RETURNING 1)" for at, (text, _) in enumerate(before))
    values = {f"{name}_{at}": value for at, (_, given) in enumerate(steps) for name, value in given.items()}
    return (f"WITH {heads} {last}" if before else last), values


@lru_cache(maxsize=_KEPT)
def _numbered(text: str, at: int) -> str:
    """A statement whose parameters no other one has."""
    return re.sub(r"\$(\w+)", rf"$\1_{at}", text)
