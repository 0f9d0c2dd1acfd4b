"""One connection to a schema of its own, for tables whose statements SQLite understands too.

Its statements have `?` where a value belongs, truth is a number, and a row is asked by position or by the name of a
column. A connection that was cut is made anew. Not safe from several threads at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar, cast

from forky_core.process.extras import needed_for

with needed_for("Keeping people in PostgreSQL", "postgresql"):
    import psycopg
    from psycopg import errors
    from psycopg.types.numeric import IntLoader

from forky_core.model.errors import StoreError
from forky_core.store.postgresql.connections import PATIENCE, ended_when_held_up
from forky_core.store.postgresql.error_sentences import is_tried_again, shown_url, store_error
from forky_core.store.postgresql.texts import kept, said

T = TypeVar("T")

_CUT_FOR = 1.0
"""Seconds for which a question is asked again while its connection is cut."""


class NamedRow(tuple[Any, ...]):
    """A row whose values are read by position or by column name, as SQLite's are."""

    __slots__ = ()
    names: tuple[str, ...] = ()

    def __getitem__(self, at: Any) -> Any:
        return super().__getitem__(self.names.index(at) if isinstance(at, str) else at)

    def keys(self) -> Iterable[str]:
        return self.names


class OneConnection:
    """A connection that is opened when it is first needed. Close it."""

    def __init__(self, url: str, schema: str) -> None:
        self.name = shown_url(url)
        """What people call the database."""
        self._url = url
        self._schema = schema
        self._connection: psycopg.Connection[NamedRow] | None = None
        self._closed = False
        self._in_transaction = False

    def close(self) -> None:
        self._closed = True
        if self._connection is not None:
            self._connection.close()

    def make(self, statements: Callable[[Collection[str]], Iterable[str]]) -> None:
        """Make the schema if it is missing, and what is missing in it, by the statements for the tables it has.

        Of several processes that do so at once, one does it and the others wait. Raises StoreError if the server cannot
        be used.
        """
        latest = time.monotonic() + PATIENCE
        while True:
            try:
                connection = self._connected()
                with connection.transaction():
                    if connection.execute(
                        "SELECT to_regnamespace(%s) IS NULL", [self._schema]
                    ).fetchone() == (True,):
                        connection.execute(f"CREATE SCHEMA {self._schema}")
                    known = connection.execute(
                        "SELECT table_name FROM information_schema.tables WHERE table_schema = %s",
                        [self._schema],
                    )
                    for statement in statements({str(name) for (name,) in known.fetchall()}):
                        connection.execute(statement)
            except (errors.UniqueViolation, errors.DuplicateSchema, errors.DuplicateTable):
                if time.monotonic() > latest:
                    raise
                time.sleep(0.05)  # Another process has made them in this moment.
            except psycopg.Error as error:
                raise store_error(error, self.name) from error
            else:
                return

    def rows(self, statement: str, *values: Any) -> Sequence[NamedRow]:
        """Every row of a question. Raises StoreError if it cannot be asked."""
        return self._asked(
            lambda connection: connection.execute(_translated(statement), _kept(values)).fetchall()
        )

    def row(self, statement: str, *values: Any) -> NamedRow | None:
        """The first row of a question; None if there is none. Raises StoreError if it cannot be asked."""
        return self._asked(
            lambda connection: connection.execute(_translated(statement), _kept(values)).fetchone()
        )

    def begin(self, first: str) -> None:
        """Begin a transaction with this statement. Raises StoreError if it cannot be begun."""

        def begin(connection: psycopg.Connection[NamedRow]) -> None:
            connection.execute("BEGIN")
            connection.execute(first)

        try:
            self._asked(begin)
        except StoreError:
            self.roll_back()
            raise
        self._in_transaction = True

    def commit(self) -> None:
        self._connected().execute("COMMIT")
        self._in_transaction = False

    def roll_back(self) -> None:
        self._in_transaction = False
        if self._connection is not None and not self._connection.closed:
            with suppress(psycopg.Error):
                self._connection.execute("ROLLBACK")

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> psycopg.Cursor[NamedRow]:
        """Run a statement of the transaction that is going on."""
        return self._connected().execute(_translated(statement), _kept(values))

    def executemany(self, statement: str, values: Iterable[Sequence[Any]], /) -> psycopg.Cursor[NamedRow]:
        """Run a statement of the transaction that is going on for each of these values."""
        cursor = self._connected().cursor()
        cursor.executemany(_translated(statement), [_kept(one) for one in values])
        return cursor

    def vacuum(self) -> None:
        """Have the server remove deleted and changed rows, if it permits that."""
        with suppress(psycopg.Error):
            self._connected().execute("VACUUM")

    def said(self, error: BaseException) -> BaseException:
        """An error of PostgreSQL as a StoreError with a sentence; any other error unchanged."""
        return store_error(error, self.name) if isinstance(error, psycopg.Error) else error

    def _connected(self) -> psycopg.Connection[NamedRow]:
        if self._closed:
            raise StoreError(f"{self.name} was closed.")
        if self._connection is None or self._connection.closed:
            if self._in_transaction:
                raise psycopg.OperationalError("the connection was cut in the middle of a change")
            self._connection = psycopg.connect(
                self._url,
                autocommit=True,
                options=(
                    f"-c search_path={self._schema} -c timezone=UTC -c client_min_messages=warning"
                    f" {ended_when_held_up()}"
                ),
                connect_timeout=int(PATIENCE),
                row_factory=cast("Any", _rows),
            )
            # Sums of whole numbers are whole.
            self._connection.adapters.register_loader("numeric", IntLoader)
        return self._connection

    def _asked(self, work: Callable[[psycopg.Connection[NamedRow]], T]) -> T:
        """The result of work that changes nothing yet; it is done again where the connection had been cut, or another
        transaction was in the way.
        """
        latest = time.monotonic() + _CUT_FOR
        while True:
            try:
                return work(self._connected())
            except psycopg.Error as error:
                if not is_tried_again(error) or self._in_transaction or time.monotonic() > latest:
                    raise store_error(error, self.name) from error
                self.roll_back()
                time.sleep(0.02)


def has_schema(url: str, schema: str) -> bool:
    """Whether a database has a schema of this name. Raises StoreError if it cannot be asked."""
    asking = OneConnection(url, schema)
    try:
        found = asking.row("SELECT to_regnamespace(?) IS NOT NULL", schema)
    finally:
        asking.close()
    return found == (True,)


@cache
def _row_of(names: tuple[str, ...]) -> type[NamedRow]:
    return type("NamedRow", (NamedRow,), {"names": names, "__slots__": ()})


def _rows(cursor: psycopg.Cursor[Any]) -> Callable[[Sequence[Any]], NamedRow]:
    """psycopg's factory of rows: texts are as they were said."""
    kind = _row_of(tuple(column.name for column in cursor.description or ()))
    return lambda values: kind(said(value) if isinstance(value, str) else value for value in values)


@cache
def _translated(statement: str) -> str:
    """A statement as psycopg takes it."""
    return statement.replace("%", "%%").replace("?", "%s")


def _kept(values: Iterable[Any]) -> list[Any]:
    """Values as the tables hold them: truth is a number there, and a text has no NUL."""
    return [
        kept(str(value)) if isinstance(value, str) else int(value) if isinstance(value, int) else value
        for value in values
    ]
