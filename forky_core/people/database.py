"""The database of a server's people: a SQLite file beside the conversations, or tables in their PostgreSQL database.

It is not DuckDB, because more than one process needs it at a time: `forky admin` changes it while the app runs. Both
run the same statements, in what SQLite and PostgreSQL have in common.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from forky_core.people.tables import SCHEMA_TEXT, TABLES_IN_ORDER

_Made = TypeVar("_Made")
SCHEMA = 1
LOOK = 0.2
"""Seconds between two looks at whether another process has written. A revocation takes effect within that time."""
LONGEST_WITHOUT_LOOK = 0.5
"""Seconds after which such a look waits for whoever writes here."""
MOST_KNOWN = 20_000
"""Questions whose answers are remembered."""


_TABLE_OF = re.compile(r"\s*(?:CREATE TABLE|CREATE (?:UNIQUE )?INDEX \w+ ON) (\w+)")


def missing_statements(tables: Collection[str]) -> Iterator[str]:
    """The statements that create the tables which a database lacks. Tables of a later version are left alone."""
    for statement in SCHEMA_TEXT.split(";"):
        about = _TABLE_OF.match(statement)
        if about is not None and about[1] not in tables:
            yield statement


def digest_of(secret: str) -> bytes:
    """The sha256 of a secret of 256 random bits. Only this is stored."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def now() -> int:
    """The time in microseconds since the epoch, UTC."""
    return time.time_ns() // 1_000


class StatementResult(Protocol):
    """The result of a statement that writes."""

    @property
    def rowcount(self) -> int:
        """Rows that were changed or deleted."""
        ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> Sequence[Any]: ...


class Writing(Protocol):
    """A transaction that is going on."""

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> StatementResult: ...

    def executemany(self, statement: str, values: Iterable[Sequence[Any]], /) -> StatementResult: ...


class TeamDatabase(ABC):
    """An open database of people; safe from any thread. Close it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._own_changes = 0
        self._looked = 0.0
        self._seen = 0
        self._going_on: Writing | None = None
        self._writer: int | None = None
        """The thread whose transaction is going on."""
        self._afterwards: list[Callable[[], None]] = []
        self._known: tuple[int, dict[tuple[Any, ...], Any]] = (-1, {})

    location: Path | None
    """The file; None where there is none."""
    is_shared: bool
    """Whether servers on several machines may use it at a time."""

    @property
    def version(self) -> int:
        """A number that changes with every change: at once for one made here, and within `LONGEST_WITHOUT_LOOK` seconds
        for one of another process.
        """
        unlooked = time.monotonic() - self._looked
        # While somebody writes, the others need not wait for them each time.
        if unlooked >= LOOK and self._lock.acquire(blocking=unlooked >= LONGEST_WITHOUT_LOOK):
            try:
                self._looked = time.monotonic()
                self._seen = self._changes_of_others()
            finally:
                self._lock.release()
        return self._own_changes + (self._seen << 32)

    def look_again(self) -> None:
        """Have the next read of `version` check for changes of other processes, unless this process is writing."""
        self._looked = min(self._looked, time.monotonic() - LOOK)

    @abstractmethod
    def _changes_of_others(self) -> int:
        """A number that changes whenever another process has written."""

    @abstractmethod
    def rows(self, statement: str, *values: Any) -> Sequence[Any]:
        """Every row of a question. Raises StoreError if it cannot be asked."""

    @abstractmethod
    def row(self, statement: str, *values: Any) -> Any | None:
        """The first row of a question; None if there is none. Raises as `rows` does."""

    def known(self, statement: str, *values: Any) -> Sequence[Any]:
        """Like `rows`, for queries that every click makes: the result is cached until `version` changes.

        It is not for tables that a transaction changes which leaves `version` as it is.
        """
        return self.made((statement, *values), lambda: self.rows(statement, *values))

    def made(self, named: tuple[Any, ...], make: Callable[[], _Made]) -> _Made:
        """The value that `make` computes from tables, cached under a name until `version` changes."""
        if self._writer == threading.get_ident():
            return make()
        version = self.version
        at, answers = self._known
        if at != version or len(answers) > MOST_KNOWN:
            answers = {}
            self._known = (version, answers)
        found: _Made | None = answers.get(named)
        if found is None:
            # What is asked only now is never older than the version that was looked at before.
            found = answers[named] = make()
        return found

    @abstractmethod
    def many(self, columns: Sequence[str], rest: str, *values: Any) -> Sequence[Sequence[Any]]:
        """The rows of `SELECT columns rest`, where there may be hundreds: texts and whole numbers, in no order.

        Raises as `rows` does.
        """

    @abstractmethod
    def columns(self) -> Mapping[str, Sequence[str]]:
        """Every column of each table."""

    @abstractmethod
    def rewrite(self, change: Callable[[str], str], *, but: frozenset[str]) -> None:
        """Change each text of every table except these, within a transaction."""

    @abstractmethod
    def renumber(self) -> None:
        """Continue the numbering of each table after the rows that were copied in, within a transaction."""

    @abstractmethod
    def fold_in(self) -> None:
        """Remove the bytes of deleted rows from the database's files, as far as Forky can."""

    @abstractmethod
    def back_up(self, copy: Path) -> None:
        """Write a whole copy to a file that does not exist yet, while others go on. Raises StoreError if it cannot."""

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def _begin(self, *, renews: bool) -> Writing:
        """Begin a transaction, while no other process writes. Raises StoreError if it cannot be begun now."""

    @abstractmethod
    def _commit(self) -> None: ...

    @abstractmethod
    def _roll_back(self) -> None: ...

    @abstractmethod
    def _said(self, error: BaseException) -> BaseException:
        """An error of this database as one with a sentence; any other one as it is."""

    @contextmanager
    def writing(self, *, renews: bool = True) -> Iterator[Writing]:
        """One transaction: all that is done within it is durable afterwards, or nothing if an exception ends it.

        No other process or thread writes meanwhile, so that what is read within it still holds when it ends. One that
        is begun within another belongs to that one. With `renews` False, `version` stays: what is written says nothing
        of what people may see.

        Raises:
            StoreError: another process did not finish in time, or the disk is full.
        """
        with self._lock:
            if self._going_on is not None:
                yield self._going_on
                return
            begun = self._going_on = self._begin(renews=renews)
            self._writer = threading.get_ident()
            try:
                yield begun
                self._commit()
            except BaseException as error:
                self._afterwards.clear()
                self._roll_back()
                said = self._said(error)
                if said is error:
                    raise
                raise said from error
            finally:
                self._going_on = self._writer = None
            self._own_changes += renews
            afterwards, self._afterwards = self._afterwards, []
        for work in afterwards:
            work()

    def afterwards(self, work: Callable[[], None]) -> None:
        """Call `work` when the transaction that is going on has been written, and never if it fails.

        No lock is held by then, and what it does is not part of the transaction. It must not raise.
        """
        with self._lock:
            self._afterwards.append(work)


def copy_people(source: TeamDatabase, target: TeamDatabase) -> int:
    """Copy everything about the people into a database that has none yet; returns how many people there are.

    Tables that no version makes any more stay behind.

    All of it is copied, or nothing if it fails. Nobody changes the source meanwhile.

    Raises:
        StoreError: one of the two cannot be read or written.
    """
    columns = source.columns()
    with source.writing(renews=False), target.writing() as connection:
        for table in reversed(TABLES_IN_ORDER):
            connection.execute(f'DELETE FROM "{table}"')  # noqa: S608 - names of our tables
        for table in TABLES_IN_ORDER:
            names = ", ".join(f'"{name}"' for name in columns[table])
            places = ", ".join("?" for _ in columns[table])
            rows = source.rows(f'SELECT {names} FROM "{table}"')  # noqa: S608 - names of our tables
            connection.executemany(
                f'INSERT INTO "{table}" ({names}) VALUES ({places})',  # noqa: S608 - as above
                [tuple(row) for row in rows],
            )
        target.renumber()
        found = target.row("SELECT count(*) AS number FROM people")
    return int(found["number"]) if found is not None else 0
