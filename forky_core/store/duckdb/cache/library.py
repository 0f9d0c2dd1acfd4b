"""A cache of the Library's lines: every conversation's title, size and resume point, updated by the writer.

They are read once, in four scans within one snapshot; from then on a commit replaces its conversation's line.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Literal

from forky_core.model import ConversationId, ConversationSummary
from forky_core.model.parts import Json
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.file.database import DatabaseFile
from forky_core.store.duckdb.running import execute
from forky_core.store.summary import summary_of


def summaries(file: DatabaseFile) -> list[ConversationSummary]:
    """Read the summaries of all conversations, trashed or not, in the order they were created."""
    with file.snapshot() as cursor:
        known = execute(cursor, sql.CONVERSATIONS).fetchall()
        times = {row[0]: row[1:] for row in execute(cursor, sql.LIBRARY_OPERATIONS).fetchall()}
        sizes = dict(execute(cursor, sql.LIBRARY_MESSAGES).fetchall())
        entries: dict[int, list[tuple[str, str, int]]] = defaultdict(list)
        for conversation, key, value, operation in execute(cursor, sql.LIBRARY_ENTRIES).fetchall():
            entries[conversation].append((key, value, operation))
    with file.decoding():
        return [
            _summary(
                ConversationId(id), times[number][0], times[number][1], sizes.get(number, 0), entries[number]
            )
            for id, number in known
        ]


class Library:
    def __init__(self) -> None:
        self._lock = Lock()
        self._lines: dict[ConversationId, ConversationSummary] = {}
        """In the order the conversations were created."""
        self._state: Literal["unread", "loading", "read"] = "unread"
        self._late: list[tuple[ConversationId, ConversationSummary | None]] = []
        self._listed: dict[bool, tuple[ConversationSummary, ...]] = {}
        self._loading = Lock()

    @property
    def wanted(self) -> bool:
        """Whether anybody has asked for the lines; until then there is nothing to update."""
        return self._state != "unread"

    def publish(self, lines: Iterable[ConversationSummary]) -> None:
        """Update lines that have just become durable, in the order the conversations were created."""
        self._change([(line.id, line) for line in lines])

    def drop(self, conversation: ConversationId) -> None:
        self._change([(conversation, None)])

    def forget(self) -> None:
        """Have the lines read anew when they are next wanted."""
        with self._loading, self._lock:
            self._state = "unread"
            self._lines.clear()
            self._listed.clear()

    def _change(self, changes: list[tuple[ConversationId, ConversationSummary | None]]) -> None:
        with self._lock:
            if self._state == "loading":
                self._late.extend(changes)
            elif self._state == "read":
                self._apply(changes)

    def _apply(self, changes: Iterable[tuple[ConversationId, ConversationSummary | None]]) -> None:
        for id, line in changes:
            if line is None:
                self._lines.pop(id, None)
            else:
                self._lines[id] = line
        self._listed.clear()

    def lines(
        self, read: Callable[[], list[ConversationSummary]], *, trashed: bool
    ) -> tuple[ConversationSummary, ...]:
        """The lines, most recently changed first. The first call loads all of them with `read`."""
        if self._state != "read":
            self._load(read)
        with self._lock:
            listed = self._listed.get(trashed)
            if listed is None:
                found = [line for line in self._lines.values() if line.trashed == trashed]
                found.reverse()
                found.sort(key=lambda line: -line.updated)
                listed = self._listed[trashed] = tuple(found)
            return listed

    def _load(self, read: Callable[[], list[ConversationSummary]]) -> None:
        with self._loading:
            if self._state == "read":
                return
            with self._lock:
                self._state = "loading"
                self._late.clear()
            found = read()
            with self._lock:
                self._lines = {line.id: line for line in found}
                self._apply(self._late)
                self._late.clear()
                self._state = "read"


def _summary(
    id: ConversationId, created: int, updated: int, messages: int, entries: list[tuple[str, str, int]]
) -> ConversationSummary:
    values: dict[str, Json] = {key: json.loads(value) for key, value, _ in entries}
    moved = {key: operation for key, _, operation in entries}
    return summary_of(id, values, moved.__getitem__, created=created, updated=updated, messages=messages)
