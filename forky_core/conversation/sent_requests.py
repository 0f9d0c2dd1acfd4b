"""A cache of recent requests, to estimate how much of the next one the provider has cached.

Providers cache what they have read for minutes (facts: prompt caching), so this lives in memory only: after a restart
nothing is assumed. Contexts share their finished messages, so that a cached one costs little more than its length.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass

from forky_core.llm.contract import ProviderMessage

MOST = 12
"""Requests that are cached for one conversation."""
WARM = 3_600.0
"""Seconds after which a provider's cache has surely expired."""


@dataclass(frozen=True, slots=True)
class _Request:
    model: str
    drafts: tuple[ProviderMessage, ...]
    at: float
    """The time on the monotonic clock."""


class SentRequests:
    """The last requests of one conversation. Safe from any thread."""

    def __init__(self) -> None:
        self._last: deque[_Request] = deque(maxlen=MOST)
        self._lock = threading.Lock()

    def note(self, model: str, drafts: tuple[ProviderMessage, ...]) -> None:
        """Store a request that is being sent."""
        with self._lock:
            self._last.append(_Request(model, drafts, time.monotonic()))

    def shared(self, model: str, drafts: tuple[ProviderMessage, ...]) -> int:
        """How many leading messages this model was recently sent in the same order; 0 if none."""
        since = time.monotonic() - WARM
        with self._lock:
            known = [one.drafts for one in self._last if one.model == model and one.at > since]
        return max((_shared(one, drafts) for one in known), default=0)


def _shared(one: tuple[ProviderMessage, ...], two: tuple[ProviderMessage, ...]) -> int:
    """The length of the common beginning; 0 if the system prompts, which are sent first, differ."""
    length = min(len(one), len(two))
    at = next((at for at in range(length) if one[at] is not two[at] and one[at] != two[at]), length)
    rest = (*one[at:], *two[at:])
    return 0 if any(message["role"] == "system" for message in rest) else at
