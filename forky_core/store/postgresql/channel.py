"""Sends messages between the processes that use one PostgreSQL database: one connection and one thread in each process.

Several parties share a channel: the sign of which schema a process knows (migrations.py), each workspace that is open
(other_processes.py), and whoever else has something to tell. A party says what it has to tell, hears what others told
about its topic, and gives a sign of life every three seconds. The connection is made when the first party comes, and
made anew when it was cut.
"""

from __future__ import annotations

import secrets
import select
import socket
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Any

import psycopg
from psycopg import errors

from forky_core.model.errors import StoreError
from forky_core.store.postgresql.connection import Connection

SIGN_EVERY = 3.0
"""Seconds between two signs of life."""
LONGEST = 7_900
"""Bytes of a message, of which PostgreSQL takes less than 8,000."""
_GATHERED = 0.02
"""Seconds for which what is to be told is gathered after the last was told."""
_AGAIN_AFTER = 1.0
"""Seconds between two tries to connect."""


class Party:
    """A user of a channel: it sends messages to the same party of other processes, receives theirs, or does both. All
    methods are called on the channel's thread.
    """

    topic: str
    """What it tells and hears about: a name that needs no quotes in SQL."""

    @property
    def listens(self) -> bool:
        """Whether it wants to receive messages now. It is asked again after each `Channel.wake`."""
        return False

    def meet(self) -> None:
        """Called when it begins to receive, for the first time or after the connection was cut: no message is missed
        from now on. May raise StoreError.
        """

    def give_sign(self, connection: Connection, *, hears: bool) -> None:
        """Record that this process is alive. `hears` is False if the server cannot pass on others' messages."""

    def take(self) -> Sequence[str]:
        """The messages to send now, each of at most `LONGEST` bytes. Each is returned once."""
        return ()

    def take_back(self, messages: Sequence[str]) -> None:
        """Take messages back that could not be sent; they are sent over the next connection."""

    def hear(self, message: str) -> None:
        """Receive a message, which may be this party's own. It must return at once and raise nothing."""


class Channel:
    """The one channel of a process, shared by its parties. Close it."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        """`connect` makes a connection to the server; it may raise psycopg.Error."""
        self.name = secrets.token_hex(8)
        """By which a party knows what was told over this very channel."""
        self._connect = connect
        self._lock = Lock()
        self._parties: list[Party] = []
        self._leaving: dict[Party, Event] = {}
        """Those that leave once they have told what they had to tell."""
        self._closed = False
        self._thread: Thread | None = None
        self._waking, self._woken = socket.socketpair()
        self._waking.setblocking(False)
        self._woken.setblocking(False)

    def join(self, party: Party) -> None:
        """Add a party; one that was added before is only woken."""
        with self._lock:
            if party not in self._parties and not self._closed:
                self._parties.append(party)
            if self._thread is None and not self._closed:
                self._thread = Thread(target=self._run, name="forky-channel", daemon=True)
                self._thread.start()
        self.wake()

    def wake(self) -> None:
        """Have the thread ask every party for messages to send, and whether it listens."""
        with suppress(OSError):  # Its buffer is full of the same, or it is closed.
            self._waking.send(b"1")

    def leave(self, party: Party) -> None:
        """Send a party's last messages if the server can be reached, and remove the party."""
        with self._lock:
            if party not in self._parties or self._closed:
                return
            gone = self._leaving[party] = Event()
        self.wake()
        gone.wait()

    def close(self) -> None:
        """Send the messages that are waiting, then stop the thread."""
        with self._lock:
            self._closed = True
        self.wake()
        if self._thread is not None:
            self._thread.join()
        self._waking.close()
        self._woken.close()

    def _run(self) -> None:
        while True:
            with suppress(psycopg.Error, StoreError):
                with self._connect() as connection:
                    self._talk(connection)
                return
            # What they had to tell is lost, as all is that a server which is away is told.
            closed, _, leaving = self._look()
            self._let_go(leaving)
            if closed:
                return
            self._wait(None, _AGAIN_AFTER)

    def _talk(self, connection: Connection) -> None:
        """Over one connection, until this channel is closed. Raises psycopg.Error if it is cut."""
        line = _ChannelConnection(connection)
        while True:
            closed, parties, leaving = self._look()
            line.serve(parties, leaving)
            self._let_go(leaving)
            if closed:
                return
            if not leaving:
                self._wait(connection, line.left)

    def _look(self) -> tuple[bool, list[Party], list[Party]]:
        """Whether this is closed, who takes part, and who of them is leaving."""
        with self._lock:
            closed, parties = self._closed, list(self._parties)
            leaving = list(parties) if closed else list(self._leaving)
            return closed, parties, leaving

    def _let_go(self, parties: Sequence[Party]) -> None:
        with self._lock:
            for party in parties:
                self._parties.remove(party)
                if party in self._leaving:
                    self._leaving.pop(party).set()

    def _wait(self, connection: Connection | None, seconds: float) -> None:
        """Until something came in, somebody wakes us, or this time has passed."""
        sources: list[Any] = [self._woken] if connection is None else [connection, self._woken]
        readable, _, _ = select.select(sources, [], [], seconds)
        if self._woken in readable:
            with suppress(BlockingIOError):
                while self._woken.recv(4096):
                    pass


class _ChannelConnection:
    """One connection of a channel. Its methods raise psycopg.Error if it is cut."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._hears: dict[Party, bool] = {}
        """Whether each of those that want to hear does."""
        self._signed: set[Party] = set()
        """Who has given this round's sign of life."""
        self._next_round = 0.0

    def serve(self, parties: Sequence[Party], leaving: Collection[Party]) -> None:
        """Let the parties say and hear what there is. Those that are leaving are forgotten afterwards."""
        if time.monotonic() >= self._next_round:
            self._next_round = time.monotonic() + SIGN_EVERY
            self._signed.clear()
        for party in parties:
            if party.listens and party not in self._hears:
                # Where nothing can be heard, the party looks by itself from time to time.
                hears = self._listen(party.topic)
                party.meet()
                self._hears[party] = hears
        for party in parties:
            if party not in self._signed and party not in leaving:
                party.give_sign(self._connection, hears=self._hears.get(party, False))
                self._signed.add(party)
        if sum(self._send(party) for party in parties):
            time.sleep(_GATHERED)
        for told in self._connection.notifies(timeout=0):
            for party in parties:
                if party.topic == told.channel:
                    party.hear(told.payload)
        for party in leaving:
            self._forget(party)

    @property
    def left(self) -> float:
        """Seconds until the next signs of life are due."""
        return max(0.0, self._next_round - time.monotonic())

    def _listen(self, topic: str) -> bool:
        """Hear what is told about a topic from now on; False where the server cannot tell its clients anything."""
        try:
            self._connection.execute(f"LISTEN {topic}")
        except (errors.FeatureNotSupported, errors.SyntaxError):
            return False
        return True

    def _forget(self, party: Party) -> None:
        self._signed.discard(party)
        heard = self._hears.pop(party, False)
        if heard and all(one.topic != party.topic for one in self._hears):
            self._connection.execute(f"UNLISTEN {party.topic}")

    def _send(self, party: Party) -> int:
        """Tell what a party has to tell; returns how many messages that were."""
        messages = party.take()
        try:
            for message in messages:
                # It is lost where the server cannot tell its clients anything.
                with suppress(errors.FeatureNotSupported, errors.UndefinedFunction):
                    self._connection.execute("SELECT pg_notify(%s, %s)", (party.topic, message))
        except psycopg.Error:
            party.take_back(messages)
            raise
        return len(messages)
