"""The signed-in browsers. A session is opened with a credential and lasts until it is ended or expires.

Only the event loop of the server accesses the sessions, so that they need no lock.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from forky_core.people.database import digest_of

LIFETIME = 30 * 24 * 3600
"""Seconds after which a session expires."""
MOST = 1000
"""The most sessions at a time; opening one more ends the oldest."""


@dataclass(eq=False, slots=True, weakref_slot=True)
class SignInSession:
    """One signed-in browser."""

    expires: float
    """The time it expires, on the clock of `Sessions`."""
    on_end: set[Callable[[], None]] = field(default_factory=set)
    """Callbacks that run once when the session ends: open connections close themselves."""
    id: str = ""
    """Names the session of a team's member; "" on the server of one person."""
    person: str = ""
    """The id of the member of the team, likewise."""
    handle: str = ""

    def end(self) -> None:
        """Close what is open in this session."""
        waiting, self.on_end = self.on_end, set()
        for close in waiting:
            close()


class Sessions:
    """The sessions of this process. They are kept in memory: after a restart everybody signs in again."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._by_digest: dict[bytes, SignInSession] = {}

    def __len__(self) -> int:
        return len(self._by_digest)

    def open(self) -> str:
        """Open a session and return its token: 256 random bits, of which only the sha256 is stored."""
        self._forget_expired()
        while len(self._by_digest) >= MOST:
            self._end(next(iter(self._by_digest)))
        token = secrets.token_urlsafe(32)
        self._by_digest[digest_of(token)] = SignInSession(self._clock() + LIFETIME)
        return token

    def find(self, token: str) -> SignInSession | None:
        """The session of a token; None if it has ended or never existed."""
        digest = digest_of(token)
        session = self._by_digest.get(digest)
        if session is not None and session.expires <= self._clock():
            self._end(digest)
            return None
        return session

    def end(self, token: str) -> None:
        """End one session; does nothing if there is none."""
        self._end(digest_of(token))

    def end_all(self) -> None:
        """End every session: everybody signs in again."""
        for digest in list(self._by_digest):
            self._end(digest)

    def _forget_expired(self) -> None:
        now = self._clock()
        for digest, session in list(self._by_digest.items()):
            if session.expires <= now:
                self._end(digest)

    def _end(self, digest: bytes) -> None:
        session = self._by_digest.pop(digest, None)
        if session is not None:
            session.end()
