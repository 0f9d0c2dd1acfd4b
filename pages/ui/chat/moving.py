"""What others say appears in this tab: the page is drawn again when the conversation has moved, and only then.

Word of it comes beside Streamlit (gateway/moving.py), so that waiting costs no run of the page. A run leaves what is
being typed where it is, and scroll and place with it.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from forky_core.gateway.moving import PREFIX
from forky_core.repo.conversation import Conversation

_component = st.components.v2.component(
    "forky.moving", js=Path(__file__).with_name("moving.js").read_text("utf-8"), html="<div></div>"
)


def hear_moves(chat: Conversation, *, version: int) -> None:
    """Mount it where several people may be at work. `version` is the conversation's as this run drew it."""
    if chat.person is None and not chat.room.people:
        return
    _component(
        key="chat.moves",
        data={"url": f"{PREFIX}/{chat.id}", "at": version},
        on_moved_change=lambda: None,
        height="content",
    )
