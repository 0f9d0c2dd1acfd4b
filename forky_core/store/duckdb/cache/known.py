"""Texts that the file may hold and the conversations that have them, so that a text is looked up without the file.

Nearly every conversation that a program begins has an opening and an id that nobody had before; to hear so from the
file takes a scan of its keys, a millisecond and more with every thousand conversations. Kept is a hash of each text and
the conversation's number, 12 bytes, read at the first question and added to by the writer. Nothing is ever taken out:
what was purged is asked for once too often, never once too little.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from threading import Lock


class Known:
    """Hashes of texts. `note` must be called for every text that is written from the time this was made."""

    def __init__(self, stored: Callable[[], Iterable[tuple[str, int]]]) -> None:
        """`stored` reads the texts that the file holds, each with the number of a conversation that has it."""
        self._read = stored
        self._stored: tuple[array[int], array[int]] | None = None
        """Hashes in their order, and the number that belongs to each."""
        self._fresh: dict[int, tuple[int, ...]] = {}
        self._reading = Lock()

    def note(self, text: str, number: int) -> None:
        """To be called by one thread."""
        at = hash(text)
        self._fresh[at] = (*self._fresh.get(at, ()), number)

    def lacks(self, text: str) -> bool:
        """Whether the file certainly does not hold it."""
        return not self.numbers(text)

    def numbers(self, text: str) -> frozenset[int]:
        """Every conversation that has it, and perhaps some that do not."""
        stored = self._stored
        if stored is None:
            with self._reading:
                if self._stored is None:
                    pairs = sorted((hash(one), number) for one, number in self._read())
                    self._stored = (array("q", (at for at, _ in pairs)), array("i", (n for _, n in pairs)))
                stored = self._stored
        hashes, numbers = stored
        at = hash(text)
        found = numbers[bisect_left(hashes, at) : bisect_right(hashes, at)]
        return frozenset((*found, *self._fresh.get(at, ())))
