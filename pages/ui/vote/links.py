"""The link from other pages to the open polls."""

from __future__ import annotations

from forky_core.views.shelf import count
from pages.ui.components.links import page_link
from pages.ui.frame import Frame


def link_polls(frame: Frame) -> None:
    """Draw a link that says how many polls are open, on the Chat page."""
    waiting = [poll for poll in frame.chat.polls.all if poll.open]
    if not waiting:
        return
    only = {"poll": str(waiting[0].number)} if len(waiting) == 1 else {}
    page_link(
        "vote.py",
        "Vote" if only else count(len(waiting), "vote"),
        {"c": str(frame.chat.id), **only},
        icon="how_to_vote",
        help="Somebody asks which answer is better",
    )
