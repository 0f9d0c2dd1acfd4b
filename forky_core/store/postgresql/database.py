"""One PostgreSQL database as one workspace sees it, and the schema of its tables."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TypeVar

import psycopg
from psycopg_pool import PoolTimeout

from forky_core.model.errors import StoreError
from forky_core.store.postgresql import statements
from forky_core.store.postgresql.connection import Connection, Rows, run
from forky_core.store.postgresql.connections import MOST_CONNECTIONS, Connections, this_process
from forky_core.store.postgresql.error_sentences import is_cut, is_tried_again
from forky_core.store.postgresql.migrations import MIGRATIONS, SchemaSign, SchemaStep, migrate
from forky_core.store.rows import Row

T = TypeVar("T")

OLDEST = 14
"""The oldest PostgreSQL that has all that the statements need."""
_CUT_FOR = 5.0
"""Seconds for which a read is tried again while its connections are cut."""


class Database:
    """One workspace of a PostgreSQL database. Close it."""

    sql = statements

    def __init__(self, connections: Connections, workspace: str) -> None:
        """Use connections that others may use, too; see `connect_to`."""
        connections.hold()
        self.connections = connections
        self.name = connections.name
        """What people call the database."""
        self.workspace = workspace
        self.process = connections.process
        """Names whoever writes, so that others know whether they still live."""
        self.saying = connections.saying
        """A block in which what PostgreSQL raises becomes a StoreError with a sentence."""

    def decoding(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        self.connections.let_go()

    def connect(self) -> Connection:
        """Open a connection outside the pool, in autocommit mode; the caller closes it."""
        return self.connections.connect(self.workspace)

    def rows(self, statement: str, /, **given: object) -> Rows:
        """The rows of one statement about the workspace that only reads.

        Raises:
            StoreError: the server cannot be reached or asked.
        """
        return self.reading(lambda connection: connection.rows(statement, **given))

    def fetch(self, statement: str, /, **given: object) -> list[Row]:
        """As `rows`, by the names of their columns."""
        return self.reading(lambda connection: connection.fetch(statement, **given))

    def reading(self, work: Callable[[Connection], T]) -> T:
        """The result of work that only reads. The work is repeated if the connection was cut or another transaction was
        in the way.

        Raises:
            StoreError: the server cannot be reached or asked.
        """
        latest = time.monotonic() + _CUT_FOR
        with self.saying():
            while True:
                try:
                    with self.connections.lent(self.workspace) as connection:
                        return work(connection)
                except PoolTimeout:
                    with self.connect():
                        raise  # The server can be reached: all connections are in use.
                except psycopg.OperationalError as error:
                    if not is_tried_again(error) or time.monotonic() > latest:
                        raise
                    if is_cut(error):
                        self.connections.look_through()  # The others are probably cut, too.
                    time.sleep(0.02)

    def at_once(self, work: Callable[[Connection], T]) -> T:
        """As `reading`, with all that the work reads as of one moment."""

        def within(connection: Connection) -> T:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                return work(connection)
            finally:
                if not connection.closed:
                    connection.execute("COMMIT")

        return self.reading(within)


def connect_to(
    url: str,
    *,
    connections: int = MOST_CONNECTIONS,
    migrations: Sequence[SchemaStep] = MIGRATIONS,
    process: str | None = None,
) -> Connections:
    """Connections to a database whose schema is up to date; `process` is that of `Connections`.

    Raises:
        StoreError: the server cannot be reached or used; the sentence says why, and what to do.
        StoreTooNew: a later version of Forky has changed the schema so that this one cannot use it.
        StoreBusy: the schema has to be changed, and programs of an older version live that could not go on.
    """
    here = process or this_process(os.getpid())

    def prepare(connection: Connection, name: str) -> None:
        _check(connection, name)
        migrate(connection, migrations, name=name, process=here)
        _make_trigrams(connection)

    made = Connections(url, prepare, most=connections, process=here)
    made.channel.join(SchemaSign(here, migrations[-1].number))
    return made


def _check(connection: Connection, name: str) -> None:
    """Whether this server can keep conversations. Raises StoreError."""
    ((version, encoding, standby, workspace),) = run(
        connection,
        "SELECT current_setting('server_version_num')::int, current_setting('server_encoding'), pg_is_in_recovery(), "
        "current_setting('forky.workspace', true)",
    )
    if version // 10_000 < OLDEST:
        raise StoreError(
            f"{name} is PostgreSQL {version // 10_000}; Forky needs {OLDEST} or later.",
            "Upgrade the server, or use another one.",
        )
    if isinstance(encoding, bytes):  # Of SQL_ASCII nothing says how it is to be read.
        encoding = encoding.decode("ascii", "replace")
    if encoding != "UTF8":
        raise StoreError(
            f"{name} keeps texts as {encoding}, which cannot hold all that people write.",
            "Make the database with ENCODING 'UTF8'.",
        )
    if workspace != connection.workspace:
        raise StoreError(
            f"{name} forgets what a connection was opened for: there is a pooler before it that gives each "
            "transaction another connection.",
            "Connect to the server itself, or set the pooler to session mode; Forky has a pool of its own.",
        )
    if standby:
        raise StoreError(
            f"{name} is a standby, which can only be read.",
            "Give the address of the primary; target_session_attrs=read-write finds it among several.",
        )


def _make_trigrams(connection: Connection) -> None:
    """Make the index that finds parts of words, where the server has the extension for it."""
    if run(connection, "SELECT to_regclass('forky.messages_words') IS NOT NULL") == [(True,)]:
        return
    # Without it, or where another process is just making it, a search looks through all texts.
    with suppress(psycopg.Error), connection.transaction():
        connection.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
        connection.execute(
            "CREATE INDEX IF NOT EXISTS messages_words ON forky.messages USING gin (lower(text) gin_trgm_ops)"
        )
