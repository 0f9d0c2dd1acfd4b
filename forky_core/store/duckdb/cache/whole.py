"""Which conversations are in packs to their last message: to open one of these its packs are enough.

What may have come behind its packs is a question of its own to the file, a third of what opening a conversation takes.
Only the writer's thread adds numbers, and it takes one away before it writes anything to that conversation: whoever
finds a number here before and after reading has read everything there was.
"""

from __future__ import annotations

import duckdb

from forky_core.store.duckdb.sql import statements as sql
from forky_core.store.duckdb.sql.running import execute


class Whole:
    """Numbers of conversations, each with its last message; to be asked from any thread."""

    def __init__(self) -> None:
        self._last: dict[int, int] = {}
        self.learned = False
        """Whether those are here that were packed before the file was opened."""
        self.wanted = False
        """Whether somebody has read packs and did not know whether they are all."""

    def __contains__(self, number: int) -> bool:
        return number in self._last

    def last(self, number: int) -> int | None:
        """Of a conversation that is in packs: its last message, which says how many they are."""
        return self._last.get(number)

    def learn(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """11 ms of a million messages; nobody else may write meanwhile."""
        if not self.learned:
            self._last.update(execute(cursor, sql.WHOLE).fetchall())
            self.learned = True

    def add(self, number: int, last: int) -> None:
        self._last[number] = last

    def discard(self, number: int) -> None:
        self._last.pop(number, None)
