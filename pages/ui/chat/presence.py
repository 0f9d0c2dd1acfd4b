"""Who else looks at this conversation, and where: on a team's server, beside the title and at their messages.

The browser says where its reader is and draws who is there (presence.js); no run of the page is needed for either. A
press on somebody leads to where they are.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from forky_core.gateway.presence import EVERY, PATH
from pages.ui.chat.rows import DOTS
from pages.ui.frame import Frame
from pages.ui.person import names_themselves
from pages.ui.streamlit_patches.navigation import lead

_component = st.components.v2.component(
    "forky.presence",
    js=DOTS + Path(__file__).with_name("presence.js").read_text("utf-8"),
    css=Path(__file__).with_name("presence.css").read_text("utf-8"),
    html='<div class="fk-here" role="group" aria-label="Who else is here"></div>',
    isolate_styles=False,
)


def draw_presence(here: Frame) -> None:
    """Draw who else is here. Does nothing on the server of one person."""
    if names_themselves():
        return
    _component(
        key="chat.here",
        data={
            "url": PATH,
            "every": EVERY * 1000,
            "conversation": str(here.chat.id),
            "branch": here.chat.branch_name,
            "message": here.at or "",
        },
        on_follow_change=lambda: _follow(here),
        height="content",
        width="content",
    )


def _follow(here: Frame) -> None:
    """Go to where somebody is."""
    place = st.session_state["chat.here"].follow
    branch, message = str(place.get("branch", "")), str(place.get("message", ""))
    if branch in here.chat.branches:
        lead({"c": str(here.chat.id), "b": branch} | ({"m": message} if message else {}))
