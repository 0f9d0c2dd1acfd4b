"""How often somebody may ask within a minute; counted in the memory of this process."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from forky_core.team.spending.refusals import SpendingRefused

_MINUTE = 60.0
_MOST_PEOPLE = 10_000


class RequestRate:
    """The requests of the last minute of each person; safe from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._times: dict[str, deque[float]] = {}

    def count(self, person: str, most: int | None) -> None:
        """Count one request. Raises SpendingRefused where there were `most` within the last minute."""
        if most is None:
            return
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
                return
            wait = max(1.0, _MINUTE - (now - times[0])) if times else _MINUTE
        asked = "1 request" if most == 1 else f"{most} requests"
        raise SpendingRefused(
            "rate_limited",
            f"You may send {asked} a minute, and have.",
            f"Try again in {wait:.0f} seconds.",
            retry_after=wait,
        )
