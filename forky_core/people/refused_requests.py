"""Refused requests in the audit log: not one entry for each, so that nobody can fill it, but one a minute with a count.

A request is refused because somebody's allowance or their token's is used up (429), because the server is overloaded,
or because the database cannot be used (503). Refusals of the last kind are noted when it can be written again.
"""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import suppress

from forky_core.model.errors import StoreError
from forky_core.people.audit import NOBODY, Audit

EVENT = "requests refused"
_GATHERED = 60.0
"""Seconds for which refusals are counted before they are noted."""

TOO_MANY_ATTEMPTS = "too many attempts to sign in"
NO_CREDIT = "the allowance was used up"
OVERLOADED = "the server was busy"
NO_DATABASE = "the database could not be used"


class RefusedRequests:
    """The refusals of one workspace, counted by person and reason; safe from any thread. Close it."""

    def __init__(self, audit: Audit, *, gathered: float = _GATHERED) -> None:
        """`gathered` is how many seconds refusals are counted before they are noted."""
        self._audit = audit
        self._gathered = gathered
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str]] = Counter()
        self._timer: threading.Timer | None = None
        self._closed = False

    def count(self, reason: str, person: str = NOBODY) -> None:
        """Count a refused request of a person, by their id; it is noted within a minute. It raises nothing."""
        with self._lock:
            self._counts[person, reason] += 1
            self._note_soon()

    def close(self) -> None:
        """Note what was counted, if that can be written."""
        with self._lock:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
        with suppress(StoreError):
            self._note()

    def _note_soon(self) -> None:
        """Note the counts in a minute; the lock must be held."""
        if self._timer is None and not self._closed:
            self._timer = threading.Timer(self._gathered, self._note_late)
            self._timer.daemon = True
            self._timer.start()

    def _note_late(self) -> None:
        with self._lock:
            self._timer = None
        try:
            self._note()
        except StoreError:  # It is tried again in a minute.
            with self._lock:
                self._note_soon()

    def _note(self) -> None:
        with self._lock:
            counts, self._counts = self._counts, Counter()
        try:
            with self._audit.writing():
                for (person, reason), number in sorted(counts.items()):
                    self._audit.note(EVENT, person, reason=reason, number=number)
        except BaseException:
            with self._lock:
                self._counts.update(counts)
            raise
