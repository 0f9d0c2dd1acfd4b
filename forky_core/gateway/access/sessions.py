"""The browsers that were let in. A session is opened by a credential and lasts until it ends, expires or is ended.

Only the event loop of the server touches the sessions, so that they need no lock.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

LIFETIME = 30 * 24 * 3600
"""Seconds after which a session expires."""
MOST = 1000
"""Sessions at once; the oldest one ends when one more is opened."""


@dataclass(eq=False, slots=True)
class Session:
    """One browser that was let in."""

    expires: float
    """On the clock of `Sessions`."""
    on_end: set[Callable[[], None]] = field(default_factory=set)
    """Called, once each, when the session ends: open connections close themselves."""


class Sessions:
    """The sessions of this process. They are kept in memory: after a restart everybody signs in again."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._by_digest: dict[bytes, Session] = {}

    def __len__(self) -> int:
        return len(self._by_digest)

    def open(self) -> str:
        """Open a session and return its token: 256 random bits, of which only the sha256 is kept."""
        self._forget_expired()
        while len(self._by_digest) >= MOST:
            self._end(next(iter(self._by_digest)))
        token = secrets.token_urlsafe(32)
        self._by_digest[_digest(token)] = Session(self._clock() + LIFETIME)
        return token

    def find(self, token: str) -> Session | None:
        """The session that a token opens; None where it has ended or never was."""
        digest = _digest(token)
        session = self._by_digest.get(digest)
        if session is not None and session.expires <= self._clock():
            self._end(digest)
            return None
        return session

    def end(self, token: str) -> None:
        """End one session; nothing happens where there is none."""
        self._end(_digest(token))

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
            waiting, session.on_end = session.on_end, set()
            for close in waiting:
                close()


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
