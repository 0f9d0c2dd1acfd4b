"""What whoever looks at a page may write in a conversation, on a team's server."""

from __future__ import annotations

from forky_core.conversation.conversation import Conversation
from forky_core.people.writing_rights import WritingRights
from pages.ui.workspace import reader


def rights(chat: Conversation) -> WritingRights | None:
    """The reader's rights in a conversation; None on the server of one person."""
    who = reader()
    return WritingRights(who.access, chat) if who is not None else None
