"""What a tab knows of how it came to the conversation that it shows, on a team's server."""

from __future__ import annotations

from dataclasses import dataclass

from forky_core.model import ConversationId
from pages.ui.person import News


@dataclass(slots=True)
class Arrival:
    """How this tab came to a conversation."""

    conversation: ConversationId
    noted: tuple[int, int]
    """How far it is noted that the reader has seen it: an operation, and an event of its threads."""
    news: News | None
    """What was new; None if nothing was, or once the bar is closed."""
    so_far: bool
    """Whether what happened so far is shown."""
    step: int = 0
    """How many of the new messages were stepped to."""
    note: str = ""
    """HTML of what happened so far, once it was made."""
