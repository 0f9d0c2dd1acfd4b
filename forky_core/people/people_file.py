"""The people of a server in a SQLite file, which several processes of one machine may use at a time.

What another process wrote is noticed by SQLite's own counter (`PRAGMA data_version`).
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from forky_core.model.errors import StoreDamaged, StoreError, StoreTooNew
from forky_core.people.database import SCHEMA, TeamDatabase, missing_statements
from forky_core.process import private_files

READERS = 8
"""Connections for questions that are kept open."""
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"


class PeopleFile(TeamDatabase):
    """An open file of people, or people in memory."""

    is_shared = False

    def __init__(self, location: Path | None) -> None:
        """Open the file, or make it; None keeps everything in memory.

        Raises:
            StoreError: it cannot be opened; StoreTooNew if a later Forky wrote it.
        """
        super().__init__()
        self.location = location
        self._readers: list[sqlite3.Connection] = []
        self._most_readers = READERS
        self._closed = False
        try:
            if location is not None:
                private_files.make_folder(location.parent)
                with suppress(FileExistsError):
                    os.close(private_files.new_file(location))
            self._connection = _connected(location)
            for pragma in (
                "journal_mode = WAL",
                "synchronous = FULL",
                "foreign_keys = ON",
                "secure_delete = ON",
            ):
                self._connection.execute(f"PRAGMA {pragma}")
            with self.writing():
                found = self._connection.execute("PRAGMA user_version").fetchone()[0]
                if found <= SCHEMA:
                    known = self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
                    for statement in missing_statements({name for (name,) in known.fetchall()}):
                        self._connection.execute(statement)
                    self._connection.execute(f"PRAGMA user_version = {SCHEMA}")
        except sqlite3.DatabaseError as error:
            raise StoreDamaged(f"{location} holds no people that can be read: {error}.") from error
        except OSError as error:
            raise StoreError(f"{location} cannot be opened: {error.strerror}.") from error
        if found > SCHEMA:
            self._connection.close()
            raise StoreTooNew(f"{location} was written by a later version of Forky.", "Update Forky.")

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._most_readers = 0
            self._close_readers()
            self._connection.close()

    def _changes_of_others(self) -> int:
        return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def rows(self, statement: str, *values: Any) -> Sequence[sqlite3.Row]:
        try:
            with self._reading() as connection:
                return connection.execute(statement, values).fetchall()
        except sqlite3.ProgrammingError as error:
            if not self._closed:
                raise
            raise StoreError("The file of the people is closed; the server is shutting down.") from error

    def row(self, statement: str, *values: Any) -> sqlite3.Row | None:
        found = self.rows(statement, *values)
        return found[0] if found else None

    def many(self, columns: Sequence[str], rest: str, *values: Any) -> Sequence[Sequence[Any]]:
        # Python gives the interpreter away at each row that SQLite finds, and waits for it beside busy threads.
        found = self.row(f"SELECT json_group_array(json_array({', '.join(columns)})) {rest}", *values)
        return json.loads(found[0]) if found is not None else ()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """A connection to ask: for whoever writes the one that writes, for the others one that waits for nobody."""
        if self.location is None or self._writer == threading.get_ident() or not self._most_readers:
            with self._lock:
                yield self._connection
            return
        try:
            connection = self._readers.pop()
        except IndexError:
            connection = _connected(self.location)
        try:
            yield connection
        finally:
            self._readers.append(connection)
            self._close_readers()

    def _close_readers(self) -> None:
        while len(self._readers) > self._most_readers:
            with suppress(IndexError):
                self._readers.pop().close()

    def columns(self) -> Mapping[str, Sequence[str]]:
        return {
            table["name"]: [column["name"] for column in self.rows(f'PRAGMA table_info("{table["name"]}")')]
            for table in self.rows(_TABLES)
        }

    def rewrite(self, change: Callable[[str], str], *, but: frozenset[str]) -> None:
        with self.writing():
            for (table,) in self.rows(_TABLES):
                if table in but:
                    continue
                for column in self.rows(f'PRAGMA table_info("{table}")'):
                    if column["type"].upper() == "TEXT":
                        self._rewrite(table, column["name"], change)

    def _rewrite(self, table: str, column: str, change: Callable[[str], str]) -> None:
        for rowid, text in self.rows(f'SELECT rowid, "{column}" FROM "{table}"'):  # noqa: S608 - our own names
            if isinstance(text, str) and (changed := change(text)) != text:
                self._connection.execute(
                    f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?',  # noqa: S608 - our own names
                    (changed, rowid),
                )

    def renumber(self) -> None:
        """Do nothing: SQLite numbers rows after the highest one there is."""

    def fold_in(self) -> None:
        """Fold the log into the file and empty it, so that it keeps nothing of what was deleted."""
        with self._lock:
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def back_up(self, copy: Path) -> None:
        try:
            os.close(private_files.new_file(copy))
            with closing(sqlite3.connect(copy)) as target, self._lock:
                if self.location is None:
                    self._connection.backup(target)
                    return
                # By a connection of its own: SQLite waits for ever for one that is in the middle of a change.
                with closing(sqlite3.connect(self.location)) as source:
                    source.backup(target)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"The people could not be copied to {copy}: {error}.") from error

    def _begin(self, *, renews: bool) -> sqlite3.Connection:  # noqa: ARG002 - SQLite counts every change
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise StoreError(f"The people cannot be changed now: {error}.") from error
        return self._connection

    def _commit(self) -> None:
        self._connection.execute("COMMIT")

    def _roll_back(self) -> None:
        with suppress(sqlite3.OperationalError):  # SQLite ends some failed transactions by itself.
            self._connection.execute("ROLLBACK")

    def _said(self, error: BaseException) -> BaseException:
        if isinstance(error, sqlite3.OperationalError):
            return StoreError(f"The people cannot be changed: {error}.")
        return error


def _connected(location: Path | None) -> sqlite3.Connection:
    connection = sqlite3.connect(
        location or ":memory:", isolation_level=None, check_same_thread=False, timeout=10
    )
    connection.row_factory = sqlite3.Row
    return connection
