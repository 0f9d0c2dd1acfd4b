"""History: every change of the conversation, newest first, with what it did and the way back to it (law 5).

The frame is the place that the address names, the view model is a page of the log (views/log.py), and
pages/ui/history draws it.
"""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.views.log import listed_numbers, log_page, numbers_of
from forky_core.views.shelf import count, forked_from, title_or_placeholder
from pages.ui.components.links import page_link
from pages.ui.components.lists import apply_list_style
from pages.ui.components.markdown import plain_label
from pages.ui.components.showing import give_button, replay_link
from pages.ui.components.undoing import page_top
from pages.ui.components.verifying import draw_verification, verify_button
from pages.ui.frame import Frame, locate
from pages.ui.history.log import draw_entries
from pages.ui.history.threads import draw_thread_log
from pages.ui.page import Page
from pages.ui.person import viewer

PAGE = Page(title="History", icon="history", order=70, section="You")
ABOUT = "Everything that was done in this conversation, newest first; any of it can be taken back."


def main() -> None:
    apply_list_style()
    frame = locate()
    if frame is None:
        st.title("History", anchor=False)
        st.caption(
            "There is no conversation yet. Begin one in the Library; everything done to it is listed here."
        )
        page_link("library.py", "Go to the Library", icon="library_books")
        return
    title = f"History of “{title_or_placeholder(frame.chat.title)}”"
    page_top(title, frame.forky, frame.session, frame.chat, about=ABOUT)
    with st.container(key="column-history"):
        if said := viewer().no_longer_protected(frame.chat.id):
            st.caption(f":material/shield: {said}")
        if said := forked_from(frame.chat.view):
            st.caption(f":material/fork_right: {plain_label(said, 400)}")
        _draw_log(frame)
        draw_thread_log(frame)


def _draw_log(frame: Frame) -> None:
    chat = frame.chat
    timeline = chat.history.timeline
    total = timeline.version
    asked = int(st.session_state.get("history.page", 1))
    _, first, last = numbers_of(asked, listed_numbers(timeline, total))
    some = chat.history.since(first - 1)[: last - first + 1]
    page = log_page(some, timeline, now=now(), page=asked, total=total)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f"{count(total, 'operation')}, newest first. Open one to see what it changed.", width="stretch"
        )
        replay_link(chat, key="history.replay")
        give_button(frame.forky, chat, "replay", key="history.give", label="Give the replay away")
        asked_to_verify = verify_button(
            "history.verify", "Re-derive every id of this conversation and replay its log"
        )
    if asked_to_verify:
        draw_verification(chat.history.verify)
    draw_entries(frame, page)


main()
