"""Inbox: who mentioned, answered or gave one something, with the way there; for one person alone, the requests that
programs made.

The frame is the workspace and what the tab holds, the view model is the notices of the viewer, and pages/ui/inbox
draws it.
"""

from __future__ import annotations

import streamlit as st

from forky_core.views.shelf import count
from pages.ui.components.buttons import button
from pages.ui.components.lists import apply_list_style
from pages.ui.components.live_updates import hear_library
from pages.ui.components.undoing import last_shown, page_top
from pages.ui.inbox.listing import draw_notices
from pages.ui.page import Page
from pages.ui.people.waiting import draw_waiting
from pages.ui.person import viewer
from pages.ui.session import session
from pages.ui.workspace import workspace

PAGE = Page(title="Inbox", icon="notifications", order=74, shown=False, about_conversation=False)

_SHOWN = {"unread": "Not read", "all": "All"}
ABOUT = "What others said to you, asked of you or shared with you."


def main() -> None:
    who = viewer()
    forky, tab = workspace(), session()
    apply_list_style()
    page_top("Inbox", forky, tab, last_shown(forky, tab), names_it=True, about=ABOUT)
    if who.alone:
        hear_library(forky)
        draw_waiting(forky, who)
        if not who.unread(forky):
            st.caption("Nothing yet. When a program asks you to look at what it found, it is listed here.")
        return
    inbox, me = who.inbox, who.id
    with st.container(key="column-inbox", gap="small"):
        unread = inbox.unread(me)
        with st.container(key="line-inbox", horizontal=True, vertical_alignment="center"):
            st.session_state.setdefault("inbox.shown", "unread" if unread else "all")
            shown = st.segmented_control(
                "Which notices",
                list(_SHOWN),
                key="inbox.shown",
                required=True,
                format_func=_SHOWN.__getitem__,
                label_visibility="collapsed",
            )
            if unread:
                st.caption(f"{count(unread, 'notice')} not read", width="stretch")
                button("Mark all as read", "inbox.mark_all", inbox.mark_all, me, icon="done_all")
        notices = inbox.of(me, unread=shown == "unread")
        if notices:
            draw_notices(who, notices)
        elif shown == "unread":
            st.caption("You have read everything.")
        else:
            st.caption(
                "Nothing yet. When somebody mentions you, answers you, asks you for a review or shares a conversation "
                "with you, it is listed here."
            )


main()
