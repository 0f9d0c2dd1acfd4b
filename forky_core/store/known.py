"""Texts that the file may hold, so that one which is new costs no question to the file.

Nearly every conversation that a program begins has an opening and an id that nobody had before; to hear so from the
file takes a scan of its keys, a millisecond and more with every thousand conversations. Kept is a hash of each text, of
8 bytes, read at the first question and added to by the writer. Nothing is ever taken out: what was purged is asked for
once too often, never once too little.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable
from threading import Lock


class Known:
    """Hashes of texts. `note` must be called for every text that is written from the time this was made."""

    def __init__(self, stored: Callable[[], Iterable[str]]) -> None:
        """`stored` reads the texts that the file holds."""
        self._read = stored
        self._stored: array[int] | None = None
        self._fresh: set[int] = set()
        self._reading = Lock()

    def note(self, text: str) -> None:
        self._fresh.add(hash(text))

    def lacks(self, text: str) -> bool:
        """Whether the file certainly does not hold it."""
        number = hash(text)
        if number in self._fresh:
            return False
        stored = self._stored
        if stored is None:
            with self._reading:
                if self._stored is None:
                    self._stored = array("q", sorted(map(hash, self._read())))
                stored = self._stored
        at = bisect_left(stored, number)
        return (at == len(stored) or stored[at] != number) and number not in self._fresh
