"""The file that keeps the people of a workspace: a SQLite database beside the conversations.

It is not DuckDB, because more than one process needs it at a time: `forky admin` changes it while the app runs. What
another process wrote is noticed by SQLite's own counter (`PRAGMA data_version`).
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from forky_core import private_files
from forky_core.model.errors import StoreDamaged, StoreError, StoreTooNew

SCHEMA = 1
LOOK = 0.2
"""Seconds between two looks at whether another process has written. A revocation takes effect within that time."""
_TABLES = """
CREATE TABLE people (
    id TEXT PRIMARY KEY, handle TEXT NOT NULL UNIQUE, name TEXT NOT NULL, email TEXT NOT NULL DEFAULT '',
    created INTEGER NOT NULL
);
CREATE TABLE identities (
    issuer TEXT NOT NULL, subject TEXT NOT NULL, person TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    secret TEXT NOT NULL DEFAULT '', created INTEGER NOT NULL, PRIMARY KEY (issuer, subject)
);
CREATE INDEX identities_of ON identities (person);
CREATE TABLE members (
    workspace TEXT NOT NULL, person TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE, role INTEGER NOT NULL,
    since INTEGER NOT NULL, PRIMARY KEY (workspace, person)
);
CREATE TABLE sessions (
    digest BLOB PRIMARY KEY, id TEXT NOT NULL UNIQUE, person TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    device TEXT NOT NULL, created INTEGER NOT NULL, seen INTEGER NOT NULL, expires INTEGER NOT NULL
);
CREATE INDEX sessions_of ON sessions (person);
CREATE TABLE invitations (
    digest BLOB PRIMARY KEY, id TEXT NOT NULL UNIQUE, workspace TEXT NOT NULL, role INTEGER NOT NULL,
    email TEXT NOT NULL, made_by TEXT NOT NULL, created INTEGER NOT NULL, expires INTEGER NOT NULL,
    uses INTEGER NOT NULL, used INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE conversations (
    workspace TEXT NOT NULL, conversation TEXT NOT NULL, owner TEXT NOT NULL, shared INTEGER NOT NULL DEFAULT 0,
    files_known INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (workspace, conversation)
);
CREATE TABLE shares (
    workspace TEXT NOT NULL, conversation TEXT NOT NULL,
    person TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE, role INTEGER NOT NULL,
    PRIMARY KEY (workspace, conversation, person)
);
CREATE INDEX shares_with ON shares (person);
CREATE TABLE given_files (
    workspace TEXT NOT NULL, file TEXT NOT NULL, person TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    PRIMARY KEY (workspace, file, person)
);
CREATE TABLE named_files (
    workspace TEXT NOT NULL, file TEXT NOT NULL, conversation TEXT NOT NULL,
    PRIMARY KEY (workspace, file, conversation)
);
CREATE TABLE audit (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, previous TEXT NOT NULL, at INTEGER NOT NULL, person TEXT NOT NULL,
    event TEXT NOT NULL, about TEXT NOT NULL
);
"""
_PROTECTED_BRANCHES = """
CREATE TABLE protected_branches (
    workspace TEXT NOT NULL, conversation TEXT NOT NULL, pattern TEXT NOT NULL, approvals INTEGER NOT NULL,
    reviewers TEXT NOT NULL, bypass INTEGER NOT NULL, PRIMARY KEY (workspace, conversation, pattern)
);
"""


def digest_of(secret: str) -> bytes:
    """The sha256 of a secret of 256 random bits, which is all that is kept of it."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def now() -> int:
    """The time in microseconds since the epoch, UTC."""
    return time.time_ns() // 1_000


class TeamDatabase:
    """An open database of people; safe from any thread. Close it."""

    def __init__(self, location: Path | None) -> None:
        """Open the file, or make it; None keeps everything in memory.

        Raises:
            StoreError: it cannot be opened; StoreTooNew if a later Forky wrote it.
        """
        self.location = location
        self._lock = threading.RLock()
        self._own_changes = 0
        self._looked = 0.0
        self._seen = 0
        try:
            if location is not None:
                private_files.make_folder(location.parent)
                with suppress(FileExistsError):
                    os.close(private_files.new_file(location))
            self._connection = sqlite3.connect(
                location or ":memory:", isolation_level=None, check_same_thread=False, timeout=10
            )
            self._connection.row_factory = sqlite3.Row
            for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
                self._connection.execute(f"PRAGMA {pragma}")
            with self.writing():
                found = self._connection.execute("PRAGMA user_version").fetchone()[0]
                if found == 0:
                    for statement in (_TABLES + _PROTECTED_BRANCHES).split(";"):
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
            self._connection.close()

    @property
    def version(self) -> int:
        """A number that changes whenever anything in the file has changed, at most `LOOK` seconds later."""
        with self._lock:
            moment = time.monotonic()
            if moment - self._looked >= LOOK:
                self._looked = moment
                self._seen = self._connection.execute("PRAGMA data_version").fetchone()[0]
            return self._own_changes + (self._seen << 32)

    def rows(self, statement: str, *values: Any) -> Sequence[sqlite3.Row]:
        """Every row of a question."""
        with self._lock:
            return self._connection.execute(statement, values).fetchall()

    def row(self, statement: str, *values: Any) -> sqlite3.Row | None:
        """The first row of a question; None if there is none."""
        with self._lock:
            found: sqlite3.Row | None = self._connection.execute(statement, values).fetchone()
            return found

    def back_up(self, copy: Path) -> None:
        """Write a whole copy to a file that does not exist yet, while others go on. Raises StoreError if it cannot."""
        try:
            os.close(private_files.new_file(copy))
            with closing(sqlite3.connect(copy)) as target, self._lock:
                self._connection.backup(target)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"The people could not be copied to {copy}: {error}.") from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all that is done within it is durable afterwards, or nothing if an exception ends it.

        No other process or thread writes meanwhile, so that what is read within it still holds when it ends. One that
        is begun within another belongs to that one.

        Raises:
            StoreError: another process did not finish in time, or the disk is full.
        """
        with self._lock:
            if self._connection.in_transaction:
                yield self._connection
                return
            try:
                self._connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                raise StoreError(f"The people cannot be changed now: {error}.") from error
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException as error:
                with suppress(sqlite3.OperationalError):  # SQLite ends some failed transactions by itself.
                    self._connection.execute("ROLLBACK")
                if isinstance(error, sqlite3.OperationalError):
                    raise StoreError(f"The people cannot be changed: {error}.") from error
                raise
            self._own_changes += 1
