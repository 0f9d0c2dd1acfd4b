"""How much of each conversation a person has seen: its last operation, and the last event of its threads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from forky_core.model import ConversationId
from forky_core.people.database import TeamDatabase, now


@dataclass(frozen=True, slots=True)
class Seen:
    """How far somebody has seen a conversation."""

    operation: int
    """The number of the last operation."""
    event: int
    """The number of the last event of its threads."""
    at: int
    """When they looked at it last: microseconds since the epoch, UTC."""


class LastSeen:
    """How far everybody has seen the conversations of one workspace."""

    def __init__(self, database: TeamDatabase, workspace: str) -> None:
        self._database = database
        self._workspace = workspace

    def of(self, person: str, conversation: ConversationId) -> Seen | None:
        """How far a person has seen a conversation; None if they have never looked at it."""
        row = self._database.row(
            "SELECT operation, event, at FROM last_seen WHERE workspace = ? AND person = ? AND conversation = ?",
            self._workspace,
            person,
            conversation,
        )
        return Seen(*row) if row is not None else None

    def of_all(self, person: str) -> Mapping[ConversationId, Seen]:
        """How far a person has seen each conversation that they have looked at."""
        rows = self._database.many(
            ("conversation", "operation", "event", "at"),
            "FROM last_seen WHERE workspace = ? AND person = ?",
            self._workspace,
            person,
        )
        return {ConversationId(id): Seen(operation, event, at) for id, operation, event, at in rows}

    def note(self, person: str, conversation: ConversationId, operation: int, event: int) -> None:
        """Record that a person has seen a conversation up to this operation and event. Never moves backwards."""
        with self._database.writing(renews=False) as connection:
            connection.execute(
                "INSERT INTO last_seen VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (workspace, person, conversation) "
                "DO UPDATE SET operation = CASE WHEN excluded.operation > last_seen.operation THEN excluded.operation "
                "ELSE last_seen.operation END, event = CASE WHEN excluded.event > last_seen.event THEN excluded.event "
                "ELSE last_seen.event END, at = excluded.at",
                (self._workspace, person, conversation, operation, event, now()),
            )

    def forget(self, conversation: ConversationId) -> None:
        """Forget a conversation that is gone for good."""
        with self._database.writing(renews=False) as connection:
            connection.execute(
                "DELETE FROM last_seen WHERE workspace = ? AND conversation = ?",
                (self._workspace, conversation),
            )
