"""Limits how much mail one address is sent, so that nobody can fill somebody's mailbox by asking for links."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

MOST = 5
"""Mails to one address within `WINDOW`."""
WINDOW = 3600.0
"""Seconds."""
_REMEMBERED = 10_000


class PerAddress:
    """Counts the mails of the last hour. Safe from any thread."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sent: OrderedDict[str, list[float]] = OrderedDict()
        self._lock = threading.Lock()

    def allows(self, address: str) -> bool:
        """Whether this address may be sent one more mail, which is then counted."""
        with self._lock:
            now = self._clock()
            times = [moment for moment in self._sent.pop(address, []) if moment > now - WINDOW]
            allowed = len(times) < MOST
            self._sent[address] = [*times, now] if allowed else times
            while len(self._sent) > _REMEMBERED:
                self._sent.popitem(last=False)
            return allowed
