"""Which conversations are fully packed, so that reading their packs is enough to open them.

Asking the file for messages newer than the packs takes a third of the time of opening a conversation. Only the writer
thread adds numbers, and it removes one before it writes to that conversation: a reader that sees a number here before
and after reading has read every message.
"""

from __future__ import annotations

import duckdb

from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.running import execute


class FullyPacked:
    """Numbers of fully packed conversations, each with its last message. Safe from any thread."""

    def __init__(self) -> None:
        self._last: dict[int, int] = {}
        self.learned = False
        """Whether conversations that were packed before the file was opened have been added."""
        self.wanted = False
        """Whether somebody has read packs without knowing whether they are complete."""

    def __contains__(self, number: int) -> bool:
        return number in self._last

    def last(self, number: int) -> int | None:
        """The last message of a fully packed conversation, which is also its number of messages; else None."""
        return self._last.get(number)

    def learn(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """Add the conversations that are fully packed in the file. Nobody else may write meanwhile.

        It takes 11 ms for a million messages.
        """
        if not self.learned:
            self._last.update(execute(cursor, sql.FULLY_PACKED).fetchall())
            self.learned = True

    def add(self, number: int, last: int) -> None:
        self._last[number] = last

    def discard(self, number: int) -> None:
        self._last.pop(number, None)
