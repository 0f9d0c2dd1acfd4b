"""Lines that a store keeps beside a conversation: where imported messages come from, and lines of a file nobody knew.

Many short pieces in place of one long text, each of whole lines, under `origins`, `origins/1`, `origins/2` …: a
database that joins its rows at a checkpoint has thousands of them in memory at once, and a large import wrote values
of ten kilobytes. What was written before there were pieces is the first of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from forky_core.model import ConversationId
from forky_core.store.contract import Store

ORIGINS = "origins"
"""Key under which a store keeps where imported messages come from: JSON Lines."""
OTHER_LINES = "lines"
"""Key under which a store keeps the lines of a file that nobody understood."""
_LONGEST = 2_000
"""Characters of a piece that has more than one line."""
_AT_ONCE = 256
"""Pieces that are read at a time."""


class KeptLines:
    """The lines under one key, read from the store each time they are walked through."""

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
        # Not `splitlines`: JSON may hold separators of lines that are none here, such as U+2028.
        return (line for piece in self.pieces() for line in piece.split("\n") if line)


def cut(key: str, lines: Iterable[str], *, after: int = 0) -> dict[str, str]:
    """The lines as pieces to be kept behind the first `after`."""
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
    """Pieces that hold those of the lines which are not kept yet, to be kept beside what is."""
    kept = KeptLines(store, conversation, key)
    known = set(kept)
    return cut(
        key, (line for line in dict.fromkeys(lines) if line not in known), after=sum(1 for _ in kept.pieces())
    )


def _named(key: str, number: int) -> str:
    return f"{key}/{number}" if number else key
