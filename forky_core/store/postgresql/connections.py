"""The connections of this process to one PostgreSQL database.

A pool is lent from for what reads; whoever writes has a connection of its own. What the processes tell each other goes
over one more (channel.py).
"""

from __future__ import annotations

import os
import platform
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from forky_core.process.extras import needed_for

with needed_for("Keeping conversations in PostgreSQL", "postgresql"):
    import psycopg
    from psycopg_pool import ConnectionPool

from forky_core.store.postgresql.channel import Channel
from forky_core.store.postgresql.connection import Connection, enter
from forky_core.store.postgresql.error_sentences import shown_url, store_error

MOST_CONNECTIONS = 12
"""Connections that a process lends to what reads."""
PATIENCE = 10.0
"""Seconds to wait for a connection, and for a server that is being started."""
_READS_WAIT = 5.0
"""Seconds to wait for a connection to read with: a server that is started anew is back by then, and a page says no
later that one is away."""
_WAIT_AGAIN = 1.0
"""The same where the server could not be reached a moment ago."""
_AWAY_FOR = 10.0
"""Seconds that count as a moment ago."""
HELD_UP = 60.0
"""Seconds without a statement after which the server ends a transaction of whoever writes: a process that has stopped
in the middle of one, as in a machine that was paused, keeps nobody else waiting for longer.
"""
_TRIES_FOR = 2.0
"""Seconds after which the pool begins anew to try to connect, for as long as the server is away."""


class Connections:
    """The connections of this process to one database, shared by all stores that use it. The last one to let go closes
    them.
    """

    def __init__(
        self,
        url: str,
        prepare: Callable[[Connection, str], None],
        *,
        most: int = MOST_CONNECTIONS,
        process: str | None = None,
    ) -> None:
        """Connect. `prepare` gets the first connection, and what people call the database, before anybody else has one.

        `process` stands in the place of this process's own name.

        Raises:
            StoreError: the server cannot be reached or used; the sentence says why, and what to do. So may `prepare`.
        """
        self.name = shown_url(url)
        """What people call the database."""
        self.process = process or this_process(os.getpid())
        """Names whoever writes, so that others know whether they still live."""
        self._url = url
        self._lock = Lock()
        self._holders = 0
        self._away = -_AWAY_FOR
        """When the server could not be reached, by the monotonic clock."""
        with self.saying(), self.connect("main") as connection:
            prepare(connection, self.name)
        self._pool = ConnectionPool(
            url,
            connection_class=Connection,
            kwargs=self._how(None),
            min_size=1,
            max_size=most,
            timeout=PATIENCE,
            # By itself the pool waits twice as long after each try, and would be blind for minutes after an outage.
            reconnect_timeout=_TRIES_FOR,
            reconnect_failed=lambda pool: pool.check(),
            open=True,
            name="forky",
        )
        self.channel = Channel(lambda: self.connect(None))

    def hold(self) -> None:
        """Count one more user of these connections."""
        with self._lock:
            self._holders += 1

    def let_go(self) -> None:
        """Count one user less; the last one closes the connections."""
        with self._lock:
            self._holders -= 1
            is_last = self._holders == 0
        if is_last:
            self.channel.close()
            self._pool.close()

    def connect(self, workspace: str | None) -> Connection:
        """Open a connection outside the pool, in autocommit mode; the caller closes it. Without a workspace it sees no
        rows.
        """
        try:
            connection = Connection.connect(self._url, **self._how(workspace, writes=True))
        except psycopg.OperationalError:
            self._away = time.monotonic()
            raise
        self._away = -_AWAY_FOR
        connection.workspace = workspace
        return connection

    @contextmanager
    def lent(self, workspace: str) -> Iterator[Connection]:
        """Borrow a connection of the pool for this block, set to this workspace. Raises PoolTimeout if none is free."""
        away = time.monotonic() - self._away < _AWAY_FOR
        with self._pool.connection(_WAIT_AGAIN if away else _READS_WAIT) as connection:
            enter(connection, workspace)
            yield connection

    def look_through(self) -> None:
        """Have the pool check its connections and replace those that were cut."""
        self._pool.check()

    @contextmanager
    def saying(self) -> Iterator[None]:
        """Raise errors of PostgreSQL in this block as a StoreError with a sentence for a person."""
        try:
            yield
        except psycopg.Error as error:
            raise store_error(error, self.name) from error

    def _how(self, workspace: str | None, *, writes: bool = False) -> dict[str, Any]:
        of = f" -c forky.workspace={_quoted_option(workspace)}" if workspace is not None else ""
        ended = f" {ended_when_held_up()}" if writes else ""
        return {
            "autocommit": True,
            "options": f"-c timezone=UTC -c client_min_messages=warning{of}{ended}",
            "connect_timeout": int(PATIENCE),
        }


def ended_when_held_up() -> str:
    """A connection option: the server ends a transaction that sends no statement for HELD_UP seconds."""
    return f"-c idle_in_transaction_session_timeout={int(HELD_UP * 1000)}"


@cache
def this_process(number: int) -> str:
    """A name for the process with this number that no other process has, not even a former one with the same number."""
    return f"{platform.node()[:60]} {number} {secrets.token_hex(6)}"


def _quoted_option(value: str) -> str:
    """A value as the options of a connection take it."""
    return re.sub(r"([\\ ])", r"\\\1", value)
