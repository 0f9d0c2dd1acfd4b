"""How often somebody may try something that could be guessed, such as a password, within a minute.

On the server of one person the attempts are counted in memory. Those of a team are kept with its people, so that
several servers over one database count them together, and a restart does not begin anew.
"""

from __future__ import annotations

import ipaddress
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Literal

from forky_core.model.errors import BadContent
from forky_core.people.database import TeamDatabase, Writing

WINDOW = 60.0
"""Seconds over which attempts are counted."""
PER_CLIENT = 5
"""Failed attempts of one client within that time."""
IN_ALL = 60
"""Failed attempts of all clients within that time. From then on whoever has failed waits; others may still try once, so
that a flood from many addresses keeps nobody out who knows their password."""
_MICRO = 1_000_000

AttemptKind = Literal["password", "password change"]


class TooManyAttempts(BadContent):
    """Somebody must wait before the next attempt."""

    def __init__(self, wait: float) -> None:
        """`wait` is in seconds."""
        self.wait = max(1, round(wait))
        super().__init__(f"Too many attempts. Try again in {self.wait} seconds.")


class Attempts:
    """Counts failed attempts of clients in the memory of this process; safe from any thread."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` returns seconds."""
        self._clock = clock
        self._lock = threading.RLock()
        self._by_client: dict[str, deque[float]] = {}
        self._all: deque[float] = deque()

    def require(self, client: str) -> None:
        """Raise TooManyAttempts if this client must wait. Nothing is counted."""
        wait = self.wait(client)
        if wait > 0:
            raise TooManyAttempts(wait)

    def begin(self, client: str) -> Callable[[], None]:
        """Count an attempt as failed before it is checked; if it succeeds, call the returned function to uncount it.

        Raises:
            TooManyAttempts: this client must wait, and nothing was counted.
        """
        with self._lock:
            self.require(client)
            return self.count(client)

    def wait(self, client: str) -> float:
        """Seconds until this client may try again; 0 if it may now."""
        with self._lock:
            now = self._clock()
            for times in (self._all, *self._by_client.values()):
                while times and times[0] <= now - WINDOW:
                    times.popleft()
            self._by_client = {name: times for name, times in self._by_client.items() if times}
            own = self._by_client.get(network_of(client), deque())
            return _wait(
                now, (len(own), own[0]) if own else None, (len(self._all), self._all[0]) if own else None
            )

    def count(self, client: str) -> Callable[[], None]:
        """As `begin`, whether the client must wait or not."""
        with self._lock:
            now = self._clock()
            own = self._by_client.setdefault(network_of(client), deque())
            own.append(now)
            self._all.append(now)

        def succeeded() -> None:
            with self._lock:
                for times in (own, self._all):
                    if now in times:
                        times.remove(now)

        return succeeded


class TeamAttempts(Attempts):
    """Counts failed attempts with the people of a team; safe from any thread, and with other processes."""

    def __init__(self, database: TeamDatabase, clock: Callable[[], int], kind: AttemptKind) -> None:
        """`clock` returns microseconds since the epoch."""
        super().__init__(clock=lambda: clock() / _MICRO)
        self._database = database
        self._kind = kind

    def begin(self, client: str) -> Callable[[], None]:
        self.require(client)  # Whoever must wait keeps nobody else from writing.
        with self._database.writing(renews=False):
            return super().begin(client)

    def wait(self, client: str) -> float:
        now, own = self._clock(), network_of(client)
        row = self._database.row(
            "SELECT count(*) AS number, min(at) AS first, count(CASE WHEN client = ? THEN 1 END) AS own_number, "
            "min(CASE WHEN client = ? THEN at END) AS own_first FROM attempts WHERE kind = ? AND at > ?",
            own,
            own,
            self._kind,
            _micro(now - WINDOW),
        )
        if row is None or not row["own_number"]:
            return 0.0
        return _wait(
            now, (row["own_number"], row["own_first"] / _MICRO), (row["number"], row["first"] / _MICRO)
        )

    def count(self, client: str) -> Callable[[], None]:
        with self._database.writing(renews=False) as connection:
            id = note_attempt(connection, self._kind, network_of(client), _micro(self._clock()))

        def succeeded() -> None:
            with self._database.writing(renews=False) as connection:
                connection.execute("DELETE FROM attempts WHERE id = ?", (id,))

        return succeeded


def note_attempt(connection: Writing, kind: str, client: str, at: int) -> str:
    """Record within a transaction that a client has tried something, and delete records older than `WINDOW`.

    `at` is in microseconds since the epoch. Returns the id by which the attempt can be taken back.
    """
    id = secrets.token_hex(8)
    connection.execute("DELETE FROM attempts WHERE at <= ?", (at - _micro(WINDOW),))
    connection.execute("INSERT INTO attempts VALUES (?, ?, ?, ?)", (id, kind, client, at))
    return id


def _wait(now: float, own: tuple[int, float] | None, everybody: tuple[int, float] | None) -> float:
    """Seconds to wait after these attempts: how many there were of the client and of everybody, and when the first of
    each was.
    """
    full = [
        found[1] for found, most in ((own, PER_CLIENT), (everybody, IN_ALL)) if found and found[0] >= most
    ]
    return max((first + WINDOW - now for first in full), default=0.0)


def _micro(seconds: float) -> int:
    return round(seconds * _MICRO)


def network_of(client: str) -> str:
    """The network that a client cannot easily leave: its IPv4 address, or the network of its IPv6 address."""
    try:
        address = ipaddress.ip_address(client)
    except ValueError:
        return client
    if address.version == 6:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)
