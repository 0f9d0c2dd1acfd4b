"""The link from other pages to the open polls."""

from __future__ import annotations

import streamlit as st

from forky_core.views.shelf import count
from pages.ui.frame import Frame
from pages.ui.made_pages import linked


def link_polls(frame: Frame) -> None:
    """Draw a link that says how many polls are open, on the Chat page."""
    waiting = [poll for poll in frame.chat.polls.all if poll.open]
    if not waiting:
        return
    only = {"poll": str(waiting[0].number)} if len(waiting) == 1 else {}
    st.page_link(
        linked("vote.py"),
        label="Vote" if only else count(len(waiting), "vote"),
        icon=":material/how_to_vote:",
        help="Somebody asks which answer is better",
        query_params={"c": str(frame.chat.id), **only},
    )
