"""A cache that maps conversation ids to their numbers in the file, and back.

Neither changes while the conversation exists; after a purge its number may be given to another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import Lock

from forky_core.model import ConversationId
from forky_core.store.deciding import no_conversation
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.file.database import DatabaseFile

_AT_ONCE = 5000
"""Conversations that the first lookup reads: looking up a single one takes nearly as long."""


class Numbers:
    """Safe from any thread."""

    def __init__(self, file: DatabaseFile) -> None:
        self._file = file
        self._lock = Lock()
        self._numbers: dict[ConversationId, int] = {}
        self._ids: dict[int, ConversationId] = {}
        self._begun = False
        self.purges = 0
        """Count of purges. A reader that compares it before and after sees whether a number may have
        been reassigned.
        """

    def of(self, conversation: ConversationId) -> int:
        """The number of a conversation. Raises NotFound if it does not exist."""
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
        """The conversation ids of these numbers; unknown numbers are left out."""
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
        """Forget a conversation that was purged."""
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
        """Cache rows that were read when the count of purges was `purges`."""
        with self._lock:
            if purges == self.purges:
                for id, number in rows:
                    self._numbers[ConversationId(id)] = number
                    self._ids[number] = ConversationId(id)
