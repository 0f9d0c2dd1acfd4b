"""Which number a conversation has inside the file, and which conversation a number is, as far as anybody has asked.

Neither ever changes while the conversation exists; a purge may give its number to another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import Lock

from forky_core.model import ConversationId
from forky_core.store.deciding import no_conversation
from forky_core.store.duckdb.file.database import DatabaseFile
from forky_core.store.duckdb.sql import statements as sql

_AT_ONCE = 5000
"""Conversations that are read at the first question: looking up one takes nearly as long."""


class Numbers:
    """Safe from any thread."""

    def __init__(self, file: DatabaseFile) -> None:
        self._file = file
        self._lock = Lock()
        self._numbers: dict[ConversationId, int] = {}
        self._ids: dict[int, ConversationId] = {}
        self._begun = False
        self.purges = 0
        """Whoever reads twice sees by it whether a number may have changed hands in between."""

    def of(self, conversation: ConversationId) -> int:
        """NotFound where there is no such conversation."""
        number = self._numbers.get(conversation)
        if number is None:
            self._begin()
            number = self._numbers.get(conversation)
        if number is None:
            purges = self.purges
            rows = self._file.rows(sql.CONVERSATION, id=conversation)
            if not rows:
                raise no_conversation(conversation)
            with self._file.decoding():
                ((_, number),) = rows
            self._keep(rows, purges)
        return number

    def ids(self, numbers: Iterable[int]) -> Mapping[int, ConversationId]:
        """Of those numbers that are a conversation's."""
        self._begin()
        wanted = set(numbers)
        held = ((number, self._ids.get(number)) for number in wanted)
        found = {number: id for number, id in held if id is not None}
        if missing := sorted(wanted - found.keys()):
            purges = self.purges
            rows = self._file.rows(sql.CONVERSATIONS_NUMBERED, numbers=missing)
            self._keep(rows, purges)
            found |= {number: ConversationId(id) for id, number in rows}
        return found

    def drop(self, conversation: ConversationId) -> None:
        """It was purged."""
        with self._lock:
            self.purges += 1
            number = self._numbers.pop(conversation, None)
            if number is not None:
                self._ids.pop(number, None)

    def _begin(self) -> None:
        if not self._begun:
            purges = self.purges
            self._keep(self._file.rows(sql.NEWEST_CONVERSATIONS, most=_AT_ONCE), purges)
            self._begun = True

    def _keep(self, rows: Iterable[tuple[str, int]], purges: int) -> None:
        """Rows that were read when there had been so many purges."""
        with self._lock:
            if purges == self.purges:
                for id, number in rows:
                    self._numbers[ConversationId(id)] = number
                    self._ids[number] = ConversationId(id)
