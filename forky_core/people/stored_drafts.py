"""Text that people have typed and not sent yet, stored by person and place so that another browser can continue it.

Nobody but its author reads a draft, and none is part of a conversation: what was not sent was not said.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from forky_core.model import ConversationId
from forky_core.model.parts import Json, canonical_json
from forky_core.people.database import TeamDatabase, now

KEPT = 2_000
"""Drafts of a person that are kept; the one that was touched longest ago goes first."""


class StoredDrafts:
    """The drafts of one workspace."""

    def __init__(self, database: TeamDatabase, workspace: str) -> None:
        self._database = database
        self._workspace = workspace

    def at(self, person: str, place: str) -> Mapping[str, Any] | None:
        """The stored draft of a person at a place; None if there is none."""
        row = self._database.row(
            "SELECT content FROM drafts WHERE workspace = ? AND person = ? AND place = ?",
            self._workspace,
            person,
            place,
        )
        return json.loads(row["content"]) if row is not None else None

    def keep(self, person: str, place: str, content: Mapping[str, Json] | None) -> None:
        """Store a person's draft at a place; None deletes it."""
        key = (self._workspace, person, place)
        with self._database.writing(renews=False) as connection:
            if content is None:
                connection.execute("DELETE FROM drafts WHERE workspace = ? AND person = ? AND place = ?", key)
                return
            connection.execute(
                "INSERT INTO drafts VALUES (?, ?, ?, ?, ?) ON CONFLICT (workspace, person, place) "
                "DO UPDATE SET content = excluded.content, at = excluded.at",
                (*key, canonical_json(content), now()),
            )
            connection.execute(
                "DELETE FROM drafts WHERE workspace = ? AND person = ? AND place NOT IN (SELECT place FROM drafts "
                "WHERE workspace = ? AND person = ? ORDER BY at DESC LIMIT ?)",
                (self._workspace, person, self._workspace, person, KEPT),
            )

    def forget(self, conversation: ConversationId) -> None:
        """Delete the drafts in a conversation that was deleted for good."""
        with self._database.writing(renews=False) as connection:
            connection.execute(
                "DELETE FROM drafts WHERE workspace = ? AND (place = ? OR substr(place, 1, ?) = ?)",
                (self._workspace, conversation, len(conversation) + 1, f"{conversation}/"),
            )
