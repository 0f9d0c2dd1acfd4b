"""What a process tells the others that use the same workspace, and what it hears from them.

It tells that it lives, from the first thing on that it writes: whoever finds a reply of a process that was not heard
from for ten seconds, by the clock of the server, may take it over (`forky.is_alive`). And it tells which conversations
it has changed, after the commit and gathered, so that pages of another process show them. Both go over one connection
and one thread, which begin when there is something to say or somebody who listens.

News that were missed while the connection was cut are found by the versions of the conversations.
"""

from __future__ import annotations

import json
import secrets
import select
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from threading import Lock, Thread

import psycopg
from psycopg import errors

from forky_core.model import ConversationId
from forky_core.model.errors import StoreError
from forky_core.store.postgresql import statements as sql
from forky_core.store.postgresql.database import Connection, Database, run

LIVES_EVERY = 3.0
"""Seconds between two signs of life."""
_GATHERED = 0.02
"""Seconds for which news are gathered after the last ones were told."""
_AGAIN_AFTER = 1.0
"""Seconds between two tries to connect."""
_MOST_NAMED = 150
"""Conversations that one notification names; PostgreSQL takes 8,000 bytes."""

_Versions = Mapping[ConversationId, tuple[int, int]]


class OtherProcesses:
    """The other processes that use a workspace, as seen from this one. Close it."""

    def __init__(self, database: Database, changed: Callable[[Iterable[ConversationId]], None]) -> None:
        """`changed` is called with conversations that another process has changed, on a thread of this object's."""
        self._database = database
        self._changed = changed
        self._name = secrets.token_hex(8)
        self._channel = f"forky_{sha256(database.workspace.encode()).hexdigest()[:24]}"
        self._lock = Lock()
        self._news: set[ConversationId] = set()
        self._known: _Versions | None = None
        """What the conversations were at when somebody began to listen, or at the latest look; None: nobody does."""
        self._may_listen = True
        self._lives = False
        self._closed = False
        self._thread: Thread | None = None
        self._waking, self._woken = socket.socketpair()
        self._waking.setblocking(False)
        self._woken.setblocking(False)

    def live(self, connection: Connection) -> None:
        """Say that this process lives, at once over this connection and from then on by itself."""
        if not self._lives:
            here = self._database.workspace
            run(connection, sql.LIVE, workspace=here, process=self._database.process)
            run(connection, sql.FORGET_GONE, workspace=here)
            self._lives = True
            self._begin()

    def listen(self) -> None:
        """Hear of what others change from now on. Raises StoreError if the server cannot be asked."""
        if self._known is None:
            self._known = self._versions()
            self._begin()

    def tell(self, conversations: Iterable[ConversationId]) -> None:
        """Tell the others, soon, that these have changed."""
        with self._lock:
            is_first = not self._news
            self._news.update(conversations)
        if is_first:
            self._begin()

    def close(self) -> None:
        """Tell what is still to be told, then stop."""
        with self._lock:
            self._closed = True
        self._wake()
        if self._thread is not None:
            self._thread.join()
        self._waking.close()
        self._woken.close()

    def _begin(self) -> None:
        with self._lock:
            if self._thread is None and not self._closed:
                self._thread = Thread(target=self._run, name="forky-other-processes", daemon=True)
                self._thread.start()
        self._wake()

    def _wake(self) -> None:
        with suppress(OSError):  # Its buffer is full of the same, or it is closed.
            self._waking.send(b"1")

    def _run(self) -> None:
        while True:
            with suppress(psycopg.Error, StoreError):
                with self._database.connect() as connection:
                    self._talk(connection)
                return
            if self._closed:
                return  # The news are lost, as all is that a server which is away is told.
            self._wait(self._woken, _AGAIN_AFTER)

    def _talk(self, connection: Connection) -> None:
        """Over one connection, until this object is closed. Raises psycopg.Error if it is cut."""
        listens = False
        next_sign = 0.0
        while True:
            closing = self._closed
            if self._known is not None and not listens and self._may_listen:
                listens = self._listens(connection)
            if time.monotonic() >= next_sign and not closing:
                next_sign = time.monotonic() + LIVES_EVERY
                self._give_signs(connection, listens=listens)
            self._send(connection)
            self._hear(connection)
            if closing:
                return
            self._wait(connection, max(0.0, next_sign - time.monotonic()))

    def _listens(self, connection: Connection) -> bool:
        try:
            connection.execute(f"LISTEN {self._channel}")
        except (errors.FeatureNotSupported, errors.SyntaxError):
            self._may_listen = (
                False  # Some clusters cannot: then the versions are looked at from time to time.
            )
        self._catch_up()
        return self._may_listen

    def _give_signs(self, connection: Connection, *, listens: bool) -> None:
        if self._lives:
            run(connection, sql.LIVE, workspace=self._database.workspace, process=self._database.process)
        if self._known is not None and not listens:
            self._catch_up()

    def _catch_up(self) -> None:
        """Tell listeners of everything that is not as it was at the latest look."""
        known, now = self._known, self._versions()
        self._known = now
        if known is not None:
            changed = [id for id in known.keys() | now.keys() if known.get(id) != now.get(id)]
            if changed:
                self._changed(changed)

    def _versions(self) -> _Versions:
        rows = self._database.rows(sql.VERSIONS, workspace=self._database.workspace)
        return {ConversationId(id): (version, erasures) for id, version, erasures in rows}

    def _send(self, connection: Connection) -> None:
        with self._lock:
            news, self._news = sorted(self._news), set()
        if not news:
            return
        try:
            for at in range(0, len(news), _MOST_NAMED):
                told = json.dumps({"by": self._name, "changed": news[at : at + _MOST_NAMED]})
                with suppress(errors.FeatureNotSupported, errors.UndefinedFunction):
                    connection.execute("SELECT pg_notify(%s, %s)", (self._channel, told))
        except psycopg.Error:
            with self._lock:
                self._news.update(news)  # They are told over the next connection.
            raise
        time.sleep(_GATHERED)

    def _hear(self, connection: Connection) -> None:
        changed: set[ConversationId] = set()
        for heard in connection.notifies(timeout=0):
            told = json.loads(heard.payload)
            if told["by"] != self._name:
                changed.update(map(ConversationId, told["changed"]))
        if changed:
            self._changed(changed)

    def _wait(self, what: Connection | socket.socket, seconds: float) -> None:
        """Until something came in, there is something to tell, or this time has passed."""
        readable, _, _ = select.select([what, self._woken], [], [], seconds)
        if self._woken in readable:
            with suppress(BlockingIOError):
                while self._woken.recv(4096):
                    pass
