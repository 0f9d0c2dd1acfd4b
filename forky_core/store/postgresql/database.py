"""One PostgreSQL database as one workspace sees it: its connections, its schema, and its errors as sentences.

Every connection is opened for one workspace (`forky.workspace`), which the row security of the tables compares, so that
no statement can reach another's rows.
"""

from __future__ import annotations

import os
import platform
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from forky_core.extras import needed_for

with needed_for("Keeping conversations in PostgreSQL", "postgresql"):
    import psycopg
    from psycopg import errors
    from psycopg.conninfo import conninfo_to_dict
    from psycopg_pool import ConnectionPool, PoolTimeout

from forky_core.model.errors import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreTooNew

T = TypeVar("T")
Connection = psycopg.Connection[tuple[Any, ...]]
Rows = list[tuple[Any, ...]]

OLDEST = 14
"""The oldest PostgreSQL that has all that the statements need."""
MOST_CONNECTIONS = 12
"""Connections of one workspace in one process; one of them is the writer's."""
PATIENCE = 10.0
"""Seconds to wait for a connection, and for a server that is being started."""
_SCHEMA = Path(__file__).with_name("schema.sql")
_CUT_FOR = 5.0
"""Seconds for which a read is tried again while its connections are cut."""


class Migration(NamedTuple):
    """A step from one schema to the next; `sql` runs in one transaction."""

    number: int
    name: str
    sql: str


MIGRATIONS: tuple[Migration, ...] = (Migration(1, "the tables", ""),)
"""In order. An empty database's tables are made by schema.sql, which always says what the last one leads to."""


class Database:
    """The connections of one workspace. Close it."""

    def __init__(
        self,
        url: str,
        workspace: str,
        *,
        connections: int = MOST_CONNECTIONS,
        migrations: Sequence[Migration] = MIGRATIONS,
        process: str | None = None,
    ) -> None:
        """Connect, and bring the schema up to date. `process` stands in the place of this process's own name.

        Raises:
            StoreError: the server cannot be reached or used; the sentence says why, and what to do.
            StoreTooNew: a later version of Forky has changed the schema.
        """
        self.name = shown_url(url)
        self.workspace = workspace
        self.process = process or this_process(os.getpid())
        """Names whoever writes, so that others know whether they still live."""
        self._url = url
        options = (
            f"-c forky.workspace={_quoted_option(workspace)} -c forky.process={_quoted_option(self.process)} "
            "-c timezone=UTC -c client_min_messages=warning"
        )
        self._how: dict[str, Any] = {
            "autocommit": True,
            "options": options,
            "connect_timeout": int(PATIENCE),
        }
        with self.saying(), self.connect() as connection:
            self._check(connection)
            migrate(connection, migrations)
            _make_trigrams(connection)
        self._pool = ConnectionPool(
            url,
            kwargs=self._how,
            min_size=1,
            max_size=connections,
            timeout=PATIENCE,
            open=True,
            name="forky",
        )

    def close(self) -> None:
        self._pool.close()

    def connect(self) -> Connection:
        """A connection beside the pool, in autocommit; whoever asks closes it."""
        return psycopg.connect(self._url, **self._how)

    def rows(self, statement: str, **given: object) -> Rows:
        """The rows of one statement that only reads.

        Raises:
            StoreError: the server cannot be reached or asked.
        """
        return self.reading(lambda connection: run(connection, statement, **given))

    def reading(self, work: Callable[[Connection], T]) -> T:
        """The result of work that only reads. It is done again where its connection had been cut.

        Raises:
            StoreError: the server cannot be reached or asked.
        """
        latest = time.monotonic() + _CUT_FOR
        with self.saying():
            while True:
                try:
                    with self._pool.connection() as connection:
                        return work(connection)
                except PoolTimeout:
                    with self.connect():
                        raise  # The server can be reached: all connections are in use.
                except psycopg.OperationalError as error:
                    if not is_cut(error) or time.monotonic() > latest:
                        raise
                    self._pool.check()  # The others are probably cut, too.
                    time.sleep(0.02)

    def snapshot(self, work: Callable[[Connection], T]) -> T:
        """As `reading`, with all that the work reads as of one moment."""

        def within(connection: Connection) -> T:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                return work(connection)
            finally:
                if not connection.closed:
                    connection.execute("COMMIT")

        return self.reading(within)

    @contextmanager
    def saying(self) -> Iterator[None]:
        """What PostgreSQL raises in this block becomes a StoreError with a sentence."""
        try:
            yield
        except psycopg.Error as error:
            raise store_error(error, self.name) from error

    def _check(self, connection: Connection) -> None:
        """Whether this server can keep conversations. Raises StoreError."""
        ((version, encoding, standby, workspace),) = run(
            connection,
            "SELECT current_setting('server_version_num')::int, current_setting('server_encoding'), pg_is_in_recovery(), "
            "current_setting('forky.workspace', true)",
        )
        if version // 10_000 < OLDEST:
            raise StoreError(
                f"{self.name} is PostgreSQL {version // 10_000}; Forky needs {OLDEST} or later.",
                "Upgrade the server, or use another one.",
            )
        if encoding != "UTF8":
            raise StoreError(
                f"{self.name} keeps texts as {encoding}, which cannot hold all that people write.",
                "Make the database with ENCODING 'UTF8'.",
            )
        if workspace != self.workspace:
            raise StoreError(
                f"{self.name} forgets what a connection was opened for: there is a pooler before it that gives each "
                "transaction another connection.",
                "Connect to the server itself, or set the pooler to session mode; Forky has a pool of its own.",
            )
        if standby:
            raise StoreError(
                f"{self.name} is a standby, which can only be read.",
                "Give the address of the primary; target_session_attrs=read-write finds it among several.",
            )


@cache
def this_process(number: int) -> str:
    """A name of the process with this number that no other one has, nor one that had its number before."""
    return f"{platform.node()[:60]} {number} {secrets.token_hex(6)}"


def run(connection: Connection, statement: str, **given: object) -> Rows:
    """Run one statement and return its rows; [] where it has none."""
    cursor = connection.execute(statement, given or None)
    return cursor.fetchall() if cursor.description is not None else []


def migrate(connection: Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring the schema up to date; of several processes that do so at once, one does it and the others wait.

    Raises:
        StoreTooNew: a later version of Forky has changed the schema.
    """
    newest = migrations[-1].number
    latest = time.monotonic() + PATIENCE
    while True:
        try:
            with connection.transaction():
                if run(connection, "SELECT to_regclass('forky.migrations')") == [(None,)]:
                    connection.execute(_SCHEMA.read_text("utf-8"))
                    for step in migrations:
                        _note(connection, step)
                    return
                # Whoever else migrates holds this row.
                run(connection, "SELECT number FROM forky.migrations WHERE number = 1 FOR UPDATE")
                ((reached,),) = run(connection, "SELECT max(number) FROM forky.migrations")
                if reached > newest:
                    raise StoreTooNew(
                        f"A later version of Forky has written this database (schema {reached}; this version knows {newest}).",
                        "Use that version.",
                    )
                for step in migrations:
                    if step.number > reached:
                        connection.execute(step.sql)
                        _note(connection, step)
                return
        except (
            errors.UniqueViolation,
            errors.DuplicateTable,
            errors.DuplicateSchema,
            errors.DuplicateFunction,
        ):
            # Another process has made the same tables in this moment.
            if time.monotonic() > latest:
                raise
            time.sleep(0.05)


def _note(connection: Connection, step: Migration) -> None:
    run(
        connection,
        "INSERT INTO forky.migrations VALUES (%(number)s, %(name)s, (extract(epoch FROM now()) * 1000000)::bigint)",
        number=step.number,
        name=step.name,
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


def is_cut(error: psycopg.Error) -> bool:
    """Whether an error means that the connection is gone, and not that the statement was refused."""
    return isinstance(error, psycopg.OperationalError) and (
        error.sqlstate is None or error.sqlstate[:2] == "08" or error.sqlstate in {"57P01", "57P02", "57P03"}
    )


def store_error(error: psycopg.Error, name: str) -> StoreError:
    """The store error, as a sentence for a person, for an error of PostgreSQL."""
    said = str(error).strip()
    if isinstance(error, PoolTimeout):
        return StoreBusy(
            f"All connections to {name} are in use.",
            None,
            "Wait a moment; if it stays so, look what holds them.",
        )
    for kinds, make in _BY_STATE:
        if isinstance(error, kinds):
            return make(name, _line(said))
    for pattern, make in _BY_TEXT:
        if re.search(pattern, said):
            return make(name, _line(said))
    if is_cut(error):
        return StoreError(
            f"{name} cannot be reached: {_line(said)}", "Is the server running, and is this its address?"
        )
    return StoreError(f"{name} could not do it: {_line(said)}")


def _line(said: str) -> str:
    return said.partition("\n")[0][:300].rstrip(".") + "."


_Made = Callable[[str, str], StoreError]


def _full(name: str, _said: str) -> StoreError:
    return StoreFull(f"The disk of {name} is full. Nothing was written.", "Make room there, and try again.")


def _password(name: str, _said: str) -> StoreError:
    return StoreError(
        f"{name} refuses this user or password.", "Check FORKY_DATABASE, or set PGPASSWORD or a .pgpass file."
    )


def _no_database(_name: str, said: str) -> StoreError:
    return StoreError(f"There is no database of this name: {said}", "Make it: createdb --encoding=UTF8 NAME")


def _not_allowed(name: str, said: str) -> StoreError:
    return StoreError(
        f"{name} does not let this user do that: {said}", "docs/postgresql.md names the rights it needs."
    )


def _read_only(name: str, _said: str) -> StoreError:
    return StoreError(
        f"{name} can only be read at the moment. Nothing was written.",
        "Is it a standby? Connect to the primary.",
    )


def _too_many(name: str, _said: str) -> StoreError:
    return StoreBusy(f"{name} takes no more connections.", None, "Close some, or raise max_connections.")


def _starting(name: str, _said: str) -> StoreError:
    return StoreError(f"{name} is starting or stopping.", "Try again in a moment.")


def _damaged(name: str, said: str) -> StoreError:
    return StoreDamaged(f"{name} cannot read its own files: {said}", "Restore a backup of the server.")


_BY_STATE: tuple[tuple[tuple[type[psycopg.Error], ...], _Made], ...] = (
    ((errors.DiskFull,), _full),
    ((errors.InvalidPassword, errors.InvalidAuthorizationSpecification), _password),
    ((errors.InvalidCatalogName,), _no_database),
    ((errors.InsufficientPrivilege,), _not_allowed),
    ((errors.ReadOnlySqlTransaction,), _read_only),
    ((errors.TooManyConnections,), _too_many),
    ((errors.CannotConnectNow,), _starting),
    ((errors.DataCorrupted, errors.IndexCorrupted), _damaged),
)
_BY_TEXT: tuple[tuple[str, _Made], ...] = (
    ("password|role .* does not exist|no pg_hba.conf entry", _password),
    ('database ".*" does not exist', _no_database),
    ("too many clients|remaining connection slots", _too_many),
    ("starting up|shutting down|recovery mode", _starting),
)
"""An error of connecting has no state."""


def shown_url(url: str) -> str:
    """What people call a database: its name and host, never its password."""
    parts: Mapping[str, Any] = conninfo_to_dict(url)
    host = parts.get("host") or "this machine"
    return f"The PostgreSQL database “{parts.get('dbname') or parts.get('user') or 'postgres'}” at {host}"


def _quoted_option(value: str) -> str:
    """A value as the options of a connection take it."""
    return re.sub(r"([\\ ])", r"\\\1", value)
