"""What the processes that use one PostgreSQL database tell each other, over one connection and one thread of each.

Several parties share it: the sign of which schema a process knows (migrations.py), each workspace that is open
(other_processes.py), and whoever else has something to tell. A party says what it has to tell, hears what others told
about its topic, and gives a sign of life every three seconds. The connection is made when the first party comes, and
made anew when it was cut.
"""

from __future__ import annotations

import secrets
import select
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Any, Protocol

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


class Party(Protocol):
    """Who tells and hears over a channel. All of it is called on the channel's thread."""

    topic: str
    """What it tells and hears about: a name that needs no quotes in SQL."""

    @property
    def listens(self) -> bool:
        """Whether it wants to hear. It is asked again after each `Channel.wake`."""
        ...

    def meet(self) -> None:
        """It begins to hear, for the first time or after a cut: from now on nothing is missed. May raise StoreError."""
        ...

    def give_sign(self, connection: Connection, *, hears: bool) -> None:
        """Say that it lives. `hears` is False where the server cannot tell it what others say."""
        ...

    def take(self) -> Sequence[str]:
        """What is to be told now, once: messages of at most `LONGEST` bytes."""
        ...

    def take_back(self, messages: Sequence[str]) -> None:
        """What was taken and could not be told: it is asked for again over the next connection."""
        ...

    def hear(self, message: str) -> None:
        """What somebody told, this party too. It must return at once and raise nothing."""
        ...


class Channel:
    """The parties of one process. Close it."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        """`connect` makes a connection to the server; it may raise psycopg.Error."""
        self.name = secrets.token_hex(8)
        """By which a party knows what was told over this very channel."""
        self._connect = connect
        self._lock = Lock()
        self._parties: list[Party] = []
        self._leaving: dict[int, tuple[Party, Event]] = {}
        """Those that leave once they have told what they had to tell, by their identity."""
        self._closed = False
        self._thread: Thread | None = None
        self._waking, self._woken = socket.socketpair()
        self._waking.setblocking(False)
        self._woken.setblocking(False)

    def join(self, party: Party) -> None:
        """Let a party take part from now on; one that does already is only woken for."""
        with self._lock:
            if party not in self._parties and not self._closed:
                self._parties.append(party)
            if self._thread is None and not self._closed:
                self._thread = Thread(target=self._run, name="forky-channel", daemon=True)
                self._thread.start()
        self.wake()

    def wake(self) -> None:
        """Have the parties asked what they have to tell, and whether they listen."""
        with suppress(OSError):  # Its buffer is full of the same, or it is closed.
            self._waking.send(b"1")

    def leave(self, party: Party) -> None:
        """Tell what a party has still to tell, where the server can be reached, and let it go."""
        with self._lock:
            if party not in self._parties or self._closed:
                return
            gone = Event()
            self._leaving[id(party)] = party, gone
        self.wake()
        gone.wait()

    def close(self) -> None:
        """Tell what is still to be told, then stop."""
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
                    _Talk(connection).go_on(self._look, self._let_go, self._wait)
                return
            # What they had to tell is lost, as all is that a server which is away is told.
            closed, _, leaving = self._look()
            self._let_go(leaving)
            if closed:
                return
            self._wait(None, _AGAIN_AFTER)

    def _look(self) -> tuple[bool, list[Party], list[Party]]:
        """Whether this is closed, who takes part, and who of them is leaving."""
        with self._lock:
            closed, parties = self._closed, list(self._parties)
            leaving = list(parties) if closed else [party for party, _ in self._leaving.values()]
            return closed, parties, leaving

    def _let_go(self, parties: Sequence[Party]) -> None:
        with self._lock:
            for party in parties:
                self._parties.remove(party)
                _, gone = self._leaving.pop(id(party), (party, None))
                if gone is not None:
                    gone.set()

    def _wait(self, connection: Connection | None, seconds: float) -> None:
        """Until something came in, somebody wakes us, or this time has passed."""
        sources: list[Any] = [self._woken] if connection is None else [connection, self._woken]
        readable, _, _ = select.select(sources, [], [], seconds)
        if self._woken in readable:
            with suppress(BlockingIOError):
                while self._woken.recv(4096):
                    pass


class _Talk:
    """What goes on over one connection. Its methods raise psycopg.Error if it is cut."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._hears: dict[int, bool] = {}
        """Whether each of those that want to hear does, by its identity."""
        self._topics: dict[str, int] = {}
        """How many hear about each topic."""

    def go_on(
        self,
        look: Callable[[], tuple[bool, list[Party], list[Party]]],
        let_go: Callable[[Sequence[Party]], None],
        wait: Callable[[Connection, float], None],
    ) -> None:
        """Until the channel is closed."""
        next_sign = 0.0
        signed: set[int] = set()
        while True:
            closed, parties, leaving = look()
            for party in parties:
                if party.listens and id(party) not in self._hears:
                    self._listen(party)
            if time.monotonic() >= next_sign:
                next_sign = time.monotonic() + SIGN_EVERY
                signed.clear()
            for party in parties:
                if id(party) not in signed and party not in leaving:
                    party.give_sign(self._connection, hears=self._hears.get(id(party), False))
                    signed.add(id(party))
            if sum(self._send(party) for party in parties):
                time.sleep(_GATHERED)
            self._hear(parties)
            for party in leaving:
                self._forget(party)
                signed.discard(id(party))
            let_go(leaving)
            if closed:
                return
            if not leaving:
                wait(self._connection, max(0.0, next_sign - time.monotonic()))

    def _listen(self, party: Party) -> None:
        try:
            self._connection.execute(f"LISTEN {party.topic}")
            hears = True
        except (errors.FeatureNotSupported, errors.SyntaxError):
            hears = False  # Some clusters cannot: then the party looks by itself from time to time.
        party.meet()
        self._hears[id(party)] = hears
        self._topics[party.topic] = self._topics.get(party.topic, 0) + 1

    def _forget(self, party: Party) -> None:
        if self._hears.pop(id(party), None) is None:
            return
        self._topics[party.topic] -= 1
        if not self._topics[party.topic]:
            with suppress(errors.FeatureNotSupported, errors.SyntaxError):
                self._connection.execute(f"UNLISTEN {party.topic}")

    def _send(self, party: Party) -> int:
        """Tell what a party has to tell; returns how many messages that were."""
        messages = party.take()
        try:
            for message in messages:
                with suppress(errors.FeatureNotSupported, errors.UndefinedFunction):
                    self._connection.execute("SELECT pg_notify(%s, %s)", (party.topic, message))
        except psycopg.Error:
            party.take_back(messages)
            raise
        return len(messages)

    def _hear(self, parties: Sequence[Party]) -> None:
        for heard in self._connection.notifies(timeout=0):
            for party in parties:
                if party.topic == heard.channel:
                    party.hear(heard.payload)
