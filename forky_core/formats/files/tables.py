"""Reads databases of other programs (SQLite) as untrusted files.

They are opened immutable, so that nothing is written beside them; none of their views, triggers or functions runs, and
only real tables are read; a query that does not end is stopped.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from forky_core.formats.contract import SourceDocument
from forky_core.model.errors import BadContent
from forky_core.model.parts import Json

LONGEST_VALUE = 64_000_000
"""The most bytes of one text or blob."""
MOST_STEPS = 20_000
"""The most steps of a hundred thousand instructions of SQLite's machine: a table of millions of rows takes a few
hundred.
"""
_AT_ONCE = 500
"""Values in one query."""

Row = dict[str, Any]


class Tables:
    """The tables of an opened database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        self.names = frozenset(name for (name,) in rows if isinstance(name, str))

    def rows(
        self, table: str, *, order: str = "", where: str = "", values: Sequence[Json] = (), starts: str = ""
    ) -> Iterator[Row]:
        """Rows as mappings by column name, whichever columns exist; none if there is no such table.

        Of the column `where`, they have one of `values`, or a text that `starts` so.
        """
        if table not in self.names:
            return
        query = f'SELECT * FROM "{table}"'  # noqa: S608 - names are the importers' own
        if where and starts:
            query += f' WHERE "{where}" >= ? AND "{where}" < ?'
            values = (starts, f"{starts[:-1]}{chr(ord(starts[-1]) + 1)}")
        elif where:
            query += f' WHERE "{where}" IN ({",".join("?" * len(values))})'
        if order:
            query += f' ORDER BY "{order}"'
        found = self._connection.execute(query, tuple(values))
        names = [column[0] for column in found.description]
        for row in found:
            yield dict(zip(names, row, strict=True))

    def of(
        self, table: str, column: str, values: Sequence[Json], *, order: str = ""
    ) -> dict[Json, list[Row]]:
        """For each of the values of `column`, the rows of `table`."""
        found: dict[Json, list[Row]] = {}
        for start in range(0, len(values), _AT_ONCE):
            for row in self.rows(table, order=order, where=column, values=values[start : start + _AT_ONCE]):
                found.setdefault(row.get(column), []).append(row)
        return found


@contextmanager
def opened_tables(document: SourceDocument) -> Iterator[Tables]:
    """Open the tables of a document.

    Raises:
        BadContent: it is damaged, or reading it does not end.
    """
    with document.on_disk() as path:
        try:
            connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        except sqlite3.Error as error:
            raise BadContent(f"The database “{document.name[:100]}” cannot be opened: {error}.") from error
        steps = iter(range(MOST_STEPS))
        try:
            connection.text_factory = _text
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
            connection.set_progress_handler(lambda: next(steps, None) is None, 100_000)
            for pragma in ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON"):
                connection.execute(f"PRAGMA {pragma}")
            yield Tables(connection)
        except (sqlite3.Error, UnicodeDecodeError) as error:  # Names in a damaged schema need not be UTF-8.
            raise BadContent(f"The database “{document.name[:100]}” is damaged: {error}.") from error
        finally:
            connection.close()


def tables_of(document: SourceDocument) -> frozenset[str]:
    """Names of the tables; none if they cannot be read."""
    try:
        with opened_tables(document) as tables:
            return tables.names
    except BadContent:
        return frozenset()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
