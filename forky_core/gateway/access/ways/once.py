"""Values that are stored for a few minutes and can be taken once, for sign-ins that wait for an answer."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from forky_core.gateway.fair_dict import FairDict

Value = TypeVar("Value")

MOST = 10_000
"""The most values kept. A thousand sign-ins a minute for ten minutes are as many."""


class Once(Generic[Value]):
    """Keeps values under random keys of 256 bits, in memory. Only the event loop may use it."""

    def __init__(self, seconds: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`seconds` is how long a value can be taken."""
        self._seconds = seconds
        self._clock = clock
        self._kept: FairDict[str, tuple[float, Value]] = FairDict(MOST)

    def keep(self, value: Value, owner: str = "") -> str:
        """Keep a value and return its key. `owner` is who fills the place, such as the network of a client."""
        now = self._clock()
        for key in self._kept:
            if self._expires(key) > now:
                break
            self._kept.pop(key)
        key = secrets.token_urlsafe(32)
        self._kept.put(key, (now + self._seconds, value), owner)
        return key

    def take(self, key: str) -> Value | None:
        """The value of a key, which is forgotten; None if it was taken before, has expired, or never existed."""
        found = self._kept.pop(key)
        return found[1] if found is not None and found[0] > self._clock() else None

    def _expires(self, key: str) -> float:
        found = self._kept.get(key)
        return found[0] if found is not None else 0.0
