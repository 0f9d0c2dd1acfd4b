"""What was sent lately, so that it can be said how much of the next request a provider has read already.

Providers keep what they have read for minutes (facts: prompt caching), so this lives in memory only: after a restart
nothing is assumed. Contexts share their finished messages, so that one kept here costs little more than its length.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass

from forky_core.llm.contract import ProviderMessage

MOST = 12
"""Requests remembered of one conversation."""
WARM = 3_600.0
"""Seconds after which a provider has surely forgotten."""


@dataclass(frozen=True, slots=True)
class _Request:
    model: str
    drafts: tuple[ProviderMessage, ...]
    at: float
    """On the monotonic clock."""


class Sent:
    """The last requests of one conversation. Safe from any thread."""

    def __init__(self) -> None:
        self._last: deque[_Request] = deque(maxlen=MOST)
        self._lock = threading.Lock()

    def note(self, model: str, drafts: tuple[ProviderMessage, ...]) -> None:
        """A request goes out."""
        with self._lock:
            self._last.append(_Request(model, drafts, time.monotonic()))

    def shared(self, model: str, drafts: tuple[ProviderMessage, ...]) -> int:
        """How many drafts, from the beginning, this model was sent before in the same order; 0: none lately."""
        since = time.monotonic() - WARM
        with self._lock:
            known = [one.drafts for one in self._last if one.model == model and one.at > since]
        return max((_shared(one, drafts) for one in known), default=0)


def _shared(one: tuple[ProviderMessage, ...], two: tuple[ProviderMessage, ...]) -> int:
    """Length of the common beginning; 0 where the system text, which is sent first of all, is another."""
    length = min(len(one), len(two))
    at = next((at for at in range(length) if one[at] is not two[at] and one[at] != two[at]), length)
    rest = (*one[at:], *two[at:])
    return 0 if any(message["role"] == "system" for message in rest) else at
