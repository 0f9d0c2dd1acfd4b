"""Values that are kept for a few minutes and can be taken once: what a way to sign in waits for an answer with."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")

MOST = 10_000
"""The most values kept; one more drops the oldest. A thousand sign-ins a minute for ten minutes are as many."""


class Once(Generic[Value]):
    """Keeps values under random keys of 256 bits, in memory. Only the event loop may use it."""

    def __init__(self, seconds: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`seconds` is how long a value can be taken."""
        self._seconds = seconds
        self._clock = clock
        self._kept: dict[str, tuple[float, Value]] = {}
        """The oldest first: a dict keeps the order of insertion."""

    def keep(self, value: Value) -> str:
        """Keep a value and return its key."""
        now = self._clock()
        while self._kept and (len(self._kept) >= MOST or self._first_expires() <= now):
            del self._kept[next(iter(self._kept))]
        key = secrets.token_urlsafe(32)
        self._kept[key] = (now + self._seconds, value)
        return key

    def look(self, key: str) -> Value | None:
        """The value of a key, which can still be taken; None if it cannot."""
        expires, value = self._kept.get(key, (0.0, None))
        return value if expires > self._clock() else None

    def take(self, key: str) -> Value | None:
        """The value of a key, which is forgotten; None if it was taken before, has expired, or never existed."""
        expires, value = self._kept.pop(key, (0.0, None))
        return value if expires > self._clock() else None

    def _first_expires(self) -> float:
        return next(iter(self._kept.values()))[0]
