"""An in-memory index of texts that the file may hold, so that most lookups of new texts skip the file.

Nearly every conversation that a program begins has a new opening and a new id. To learn that from the file takes a scan
of its keys, a millisecond and more for every thousand conversations. The index holds a hash of each text and the
conversation's number, 12 bytes; it is read at the first lookup and extended by the writer. Nothing is ever removed, so
a purged text costs a needless lookup, but no stored text is ever missed.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from threading import Lock


class TextIndex:
    """Hashes of texts. Call `note` for every text that is written after this was created."""

    def __init__(self, stored: Callable[[], Iterable[tuple[str, int]]]) -> None:
        """`stored` reads the texts that the file holds, each with the number of a conversation that has it."""
        self._read = stored
        self._stored: tuple[array[int], array[int]] | None = None
        """Sorted hashes, and the conversation number that belongs to each."""
        self._fresh: dict[int, tuple[int, ...]] = {}
        self._reading = Lock()

    def note(self, text: str, number: int) -> None:
        """Add a text. Only one thread may call this."""
        at = hash(text)
        self._fresh[at] = (*self._fresh.get(at, ()), number)

    def lacks(self, text: str) -> bool:
        """Whether the file certainly does not hold this text."""
        return not self.numbers(text)

    def numbers(self, text: str) -> frozenset[int]:
        """The numbers of all conversations that have this text, and perhaps of some that do not."""
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
