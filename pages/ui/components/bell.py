"""The bell in the title bar of every page, with the number of notices that one has not read; on the server of one
person, of the requests that programs made, where there are any.

The browser keeps the number up to date; no run of the page is needed for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from pages.ui.components.notice import stay
from pages.ui.person import viewer
from pages.ui.session import session
from pages.ui.workspace import workspace

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
    """On the server of one person it shows itself only while something waits. Keys: `bar.inbox`."""
    who = viewer()
    opened = session().choices.pop(OPENED, "")
    if opened:
        who.inbox.mark(who.id, int(opened))
    bell: Any = _component(
        key="bar.inbox",
        data={
            "unread": who.unread(workspace()),
            "hides": who.alone,
            "lists": session().page == "inbox",
        },
        on_open_change=lambda: None,
        on_changed_change=lambda: stay(session()),
        height="content",
        width="content",
    )
    if bell.open:
        st.switch_page("inbox.py")
