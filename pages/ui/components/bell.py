"""The bell in the title bar of every page of a team's server, with the number of notices that one has not read.

The browser keeps the number up to date; no run of the page is needed for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from forky_core.gateway.moving import INBOX, PREFIX
from pages.ui.components.notice import stay
from pages.ui.person import viewer
from pages.ui.session import session

_component = st.components.v2.component(
    "forky.bell",
    js=Path(__file__).with_name("bell.js").read_text("utf-8"),
    css=Path(__file__).with_name("bell.css").read_text("utf-8"),
    html='<a class="fk-bell" href="inbox" aria-label="Inbox"><span class="fk-bell-sign" aria-hidden="true">notifications'
    '</span><span class="fk-bell-count" aria-hidden="true" hidden></span></a>',
    isolate_styles=False,
)


OPENED = "inbox.opened"
"""A choice of the session: the number of the notice that was pressed last."""


def draw_bell() -> None:
    """Draw nothing on the server of one person. Keys: `bar.inbox`."""
    who = viewer()
    if who.alone:
        return
    opened = session().choices.pop(OPENED, "")
    if opened:
        who.inbox.mark(who.id, int(opened))
    bell: Any = _component(
        key="bar.inbox",
        data={
            "url": f"{PREFIX}/{INBOX}",
            "unread": who.inbox.unread(who.id),
            "lists": session().page == "inbox",
        },
        on_open_change=lambda: None,
        on_changed_change=lambda: stay(session()),
        height="content",
        width="content",
    )
    if bell.open:
        st.switch_page("inbox.py")
