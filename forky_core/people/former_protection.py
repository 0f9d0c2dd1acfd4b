"""The conversations whose branches were protected by an earlier version.

Nothing is protected any more. The rules stay in the database as they were, and go with their conversation; this is for
telling people.
"""

from __future__ import annotations

from collections.abc import Collection

from forky_core.model import ConversationId
from forky_core.people.database import TeamDatabase

NO_LONGER_PROTECTED = (
    "Branches of this conversation were protected by an earlier version of Forky. They are no longer: everybody who may "
    "edit the conversation may change them."
)


def formerly_protected(database: TeamDatabase, workspace: str) -> Collection[ConversationId]:
    """The conversations of a workspace for whose branches the database has rules."""
    return database.made(("formerly protected", workspace), lambda: _read(database, workspace))


def _read(database: TeamDatabase, workspace: str) -> Collection[ConversationId]:
    rows = database.rows(
        "SELECT DISTINCT conversation FROM protected_branches WHERE workspace = ?", workspace
    )
    return frozenset(ConversationId(conversation) for (conversation,) in rows)
