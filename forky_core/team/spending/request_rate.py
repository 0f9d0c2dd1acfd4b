"""How often somebody may ask within a minute: counted in memory, and where several servers share the people, with them.

Only requests of people with a limit are written, and only as many as the limit allows: what this server refuses by
itself asks the database nothing.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from forky_core.team.attempts import note_attempt
from forky_core.team.database import TeamDatabase
from forky_core.team.spending.refusals import SpendingRefused

_MINUTE = 60.0
_MICRO = 1_000_000
_MOST_PEOPLE = 10_000


class RequestRate:
    """The requests of the last minute of each person; safe from any thread."""

    def __init__(
        self,
        shared: SharedRequests | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        refused: Callable[[str], None] = lambda _person: None,
    ) -> None:
        """`shared` counts the requests to all servers; None: there is this one. `refused` is called with the id of each
        person who is refused. `clock` returns seconds.
        """
        self._shared = shared
        self._clock = clock
        self._refused = refused
        self._lock = threading.Lock()
        self._times: dict[str, deque[float]] = {}

    def count(self, person: str, most: int | None) -> None:
        """Count one request. Raises SpendingRefused where there were `most` within the last minute.

        Where several servers share the people, it raises StoreError if they cannot be asked.
        """
        if most is None:
            return
        wait = self._wait(person, most)
        if wait == 0 and self._shared is not None:
            wait = self._shared.count(person, most)
            if wait:
                with self._lock:
                    times = self._times.get(person)
                    if times:
                        times.pop()
        if wait:
            self._refused(person)
            raise _too_many(most, wait)

    def _wait(self, person: str, most: int) -> float:
        """Count a request to this server; or else the seconds until there may be another one."""
        now = self._clock()
        with self._lock:
            if len(self._times) >= _MOST_PEOPLE:
                self._times = {
                    one: times for one, times in self._times.items() if times and now - times[-1] < _MINUTE
                }
            times = self._times.setdefault(person, deque())
            while times and now - times[0] >= _MINUTE:
                times.popleft()
            if len(times) < most:
                times.append(now)
                return 0.0
            return max(1.0, _MINUTE - (now - times[0])) if times else _MINUTE


class SharedRequests:
    """The requests of the last minute to all servers, with the people of a team; safe from any thread and process."""

    def __init__(self, database: TeamDatabase, kind: str, clock: Callable[[], int]) -> None:
        """`kind` names what is counted, and in which workspace. `clock` returns microseconds since the epoch."""
        self._database = database
        self._kind = kind
        self._clock = clock

    def count(self, person: str, most: int) -> float:
        """Count a request, and return 0.0; or else the seconds until there may be another one."""
        now = self._clock()
        if wait := self._wait(person, most, now):
            return wait
        with self._database.writing(renews=False) as connection:
            if wait := self._wait(person, most, now):
                return wait
            note_attempt(connection, self._kind, person, now)
        return 0.0

    def _wait(self, person: str, most: int, now: int) -> float:
        row = self._database.row(
            "SELECT count(*) AS number, min(at) AS first FROM attempts WHERE kind = ? AND client = ? AND at > ?",
            self._kind,
            person,
            now - round(_MINUTE) * _MICRO,
        )
        if row is None or row["number"] < most:
            return 0.0
        first = now if row["first"] is None else row["first"]
        return max(1.0, _MINUTE - (now - first) / _MICRO)


def _too_many(most: int, wait: float) -> SpendingRefused:
    asked = "1 request" if most == 1 else f"{most} requests"
    return SpendingRefused(
        "rate_limited",
        f"You may send {asked} a minute, and have.",
        f"Try again in {wait:.0f} seconds.",
        retry_after=wait,
    )
