"""Values that are kept for a few minutes and can be taken once: what a way to sign in waits for an answer with."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable
from typing import Generic, TypeVar

from forky_core.team.attempts import TooManyAttempts

Value = TypeVar("Value")

MOST = 10_000
"""The most values kept; one more drops the oldest. A thousand sign-ins a minute for ten minutes are as many."""
MOST_OF_ONE = 2_000
"""The most values of one owner; one more of theirs is refused, so that nobody fills it for everybody else."""


class Once(Generic[Value]):
    """Keeps values under random keys of 256 bits, in memory. Only the event loop may use it."""

    def __init__(self, seconds: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`seconds` is how long a value can be taken."""
        self._seconds = seconds
        self._clock = clock
        self._kept: dict[str, tuple[float, Value, str]] = {}
        """With the owner, the oldest first: a dict keeps the order of insertion."""
        self._by_owner: Counter[str] = Counter()

    def keep(self, value: Value, owner: str = "") -> str:
        """Keep a value and return its key. `owner` is whoever fills the place, such as a client's address.

        Raises TooManyAttempts where an owner has as many as one may have.
        """
        now = self._clock()
        while self._kept and self._first_expires() <= now:
            self._pop(next(iter(self._kept)))
        if self._by_owner[owner] >= MOST_OF_ONE and owner:
            raise TooManyAttempts("Too many sign-ins were begun from your network.", self._seconds)
        while len(self._kept) >= MOST:
            self._pop(next(iter(self._kept)))
        key = secrets.token_urlsafe(32)
        self._kept[key] = (now + self._seconds, value, owner)
        self._by_owner[owner] += 1
        return key

    def look(self, key: str) -> Value | None:
        """The value of a key, which can still be taken; None if it cannot."""
        expires, value, _ = self._kept.get(key, (0.0, None, ""))
        return value if expires > self._clock() else None

    def take(self, key: str) -> Value | None:
        """The value of a key, which is forgotten; None if it was taken before, has expired, or never existed."""
        expires, value = self._pop(key)
        return value if expires > self._clock() else None

    def _pop(self, key: str) -> tuple[float, Value | None]:
        expires, value, owner = self._kept.pop(key, (0.0, None, ""))
        if expires:
            self._by_owner[owner] -= 1
            if self._by_owner[owner] <= 0:
                del self._by_owner[owner]
        return expires, value

    def _first_expires(self) -> float:
        return next(iter(self._kept.values()))[0]
