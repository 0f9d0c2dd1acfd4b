"""Who is signed in, at the end of the title bar of every page of a team's server, with the ways to oneself and out."""

from __future__ import annotations

import streamlit as st

from forky_core.gateway.access.door import OUT
from pages.ui.components.links import page_link
from pages.ui.components.markdown import plain_label
from pages.ui.person import viewer


def draw_reader() -> None:
    """Draw nothing on the server of one person. Keys: `bar.reader`."""
    who = viewer()
    if who.alone:
        return
    me = who.me
    with st.popover(
        plain_label(me.name, 30), key="bar.reader", type="tertiary", icon=":material/account_circle:"
    ):
        st.caption(f"Signed in as {plain_label(me.handle, 40)}, {me.role.word} of this workspace")
        page_link("people.py", "You and your browsers", {"tab": "me"}, icon="person")
        page_link("people.py", "Everybody here", icon="group")
        st.html(f'<a class="fk-leave" href="{OUT}" target="_self">Sign out</a>')
