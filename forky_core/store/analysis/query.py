"""Questions in SQL about a copy for analysis or a database that nobody has open. They can change nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from forky_core.model.errors import BadContent, NotFound, StoreBusy
from forky_core.store.analysis.views import SCHEMA, TABLES
from forky_core.store.duckdb.file.trouble import store_error

_QUESTIONS = (duckdb.StatementType.SELECT, duckdb.StatementType.MULTI)
"""All kinds of statements that only read; a PIVOT is of the second. DESCRIBE, SUMMARIZE and SHOW are of the first."""

_UNKNOWN = re.compile(r"Table with name (\S+) does not exist")


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The rows that a question gave."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]


@contextmanager
def opened(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that reads this file alone; it reaches no other file and no network.

    Raises:
        StoreBusy: another process has the file open.
        NotFound: there is no such file, or it has no tables for analysis.
        StoreError: it is no database that can be read.
    """
    if not path.is_file():
        raise NotFound(f"There is no file {path}.")
    try:
        connection = duckdb.connect(
            str(path),
            read_only=True,
            config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"},
        )
    except duckdb.Error as error:
        failure = store_error(error, path)
        if isinstance(failure, StoreBusy):
            failure.hint = "Ask the running app with --server, or make a copy in its Settings."
        raise failure from error
    with closing(connection):
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        if not _has_tables(connection):
            raise NotFound(
                f"{path.name} has no tables for analysis yet.",
                "`forky tables FILE.duckdb` makes a copy that has them.",
            )
        yield connection


def ask(connection: duckdb.DuckDBPyConnection, question: str) -> QueryResult:
    """Answer one question. The tables need no prefix: `FROM messages` is `FROM forky_v1.messages`.

    Raises:
        BadContent: it is no question that can be answered; DuckDB's own words say why.
    """
    try:
        ((catalog,),) = connection.execute("SELECT current_database()").fetchall()
        quoted = str(catalog).replace('"', '""')
        connection.execute(f'USE "{quoted}".{SCHEMA}')
        statements = connection.extract_statements(question)
        if not statements:
            raise BadContent("There is no question.", 'Write one in SQL, such as "FROM conversations".')
        if len(statements) != 1:
            raise BadContent("One question at a time.", "Leave out what follows the first semicolon.")
        if statements[0].type not in _QUESTIONS:
            raise BadContent(
                "Only questions are answered.", "Begin with SELECT, FROM, WITH, DESCRIBE or SUMMARIZE."
            )
        result = connection.execute(statements[0])
        rows = result.fetchall()
    except duckdb.Error as error:
        unknown = _UNKNOWN.search(str(error))
        if unknown is not None:
            raise BadContent(
                f"There is no table {unknown[1]}.",
                f"There are: {', '.join(TABLES)}. docs/analysis.md describes them.",
            ) from error
        raise BadContent(str(error).strip()[:2000]) from error
    return QueryResult(tuple(column[0] for column in result.description or ()), rows)


def _has_tables(connection: duckdb.DuckDBPyConnection) -> bool:
    names = "SELECT table_name FROM information_schema.tables WHERE table_schema = ?"
    return set(TABLES) <= {name for (name,) in connection.execute(names, [SCHEMA]).fetchall()}
