"""Lines that a store keeps with a conversation: the origins of imported messages, and unknown lines of a file.

They are stored in many short pieces of whole lines instead of one long text, under `origins`, `origins/1`, `origins/2`
…: a database that joins rows at a checkpoint has thousands of them in memory at once, and a large import wrote values
of ten kilobytes. A text that was written before pieces existed counts as the first piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from forky_core.model import ConversationId
from forky_core.store.contract import Store

ORIGINS = "origins"
"""The derived key for the origins of imported messages: JSON Lines."""
OTHER_LINES = "lines"
"""The derived key for lines of a file that were not understood."""
_LONGEST = 2_000
"""The most characters of a piece with more than one line."""
_AT_ONCE = 256
"""Pieces that are read at a time."""


class KeptLines:
    """The lines under one key, read from the store on each iteration."""

    def __init__(self, store: Store, conversation: ConversationId, key: str) -> None:
        self._store = store
        self._conversation = conversation
        self._key = key

    def pieces(self) -> Iterator[str]:
        first = 0
        while True:
            keys = [_named(self._key, number) for number in range(first, first + _AT_ONCE)]
            found = self._store.derived(self._conversation, keys)
            for key in keys:
                if key not in found:
                    return
                yield found[key]
            first += _AT_ONCE

    def __iter__(self) -> Iterator[str]:
        # Not `splitlines`: JSON may contain characters such as U+2028 that count as line breaks there.
        return (line for piece in self.pieces() for line in piece.split("\n") if line)


def cut(key: str, lines: Iterable[str], *, after: int = 0) -> dict[str, str]:
    """Split lines into pieces, which are numbered after the first `after`."""
    pieces: dict[str, str] = {}
    open_piece: list[str] = []
    length = 0

    def close() -> None:
        if open_piece:
            pieces[_named(key, after + len(pieces))] = "\n".join(open_piece)
            open_piece.clear()

    for line in lines:
        if length + len(line) > _LONGEST:
            close()
            length = 0
        open_piece.append(line)
        length += len(line)
    close()
    return pieces


def missing(store: Store, conversation: ConversationId, key: str, lines: Iterable[str]) -> dict[str, str]:
    """Pieces for those of the lines that are not stored yet, to be added to the stored ones."""
    kept = KeptLines(store, conversation, key)
    known = set(kept)
    return cut(
        key, (line for line in dict.fromkeys(lines) if line not in known), after=sum(1 for _ in kept.pieces())
    )


def _named(key: str, number: int) -> str:
    return f"{key}/{number}" if number else key
