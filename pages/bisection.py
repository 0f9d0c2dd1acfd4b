"""Find where it went wrong: bisect a branch with a question to a model, or by eye; reached from Chat's branch menu."""

from __future__ import annotations

import streamlit as st

from pages.ui.bisect.form import draw_form
from pages.ui.bisect.result import draw_search
from pages.ui.components.links import chat_link
from pages.ui.components.lists import apply_list_style
from pages.ui.components.markdown import plain_label
from pages.ui.components.undoing import page_top
from pages.ui.frame import Frame, locate
from pages.ui.made_pages import linked
from pages.ui.page import Page

PAGE = Page(title="Find where it went wrong", icon="manage_search", order=90, shown=False)


def main() -> None:
    frame = locate()
    if frame is None:
        st.info("There is no conversation yet. Begin one on the Chat page.")
        st.page_link(linked("chat.py"), label="Go to Chat", icon=":material/account_tree:")
        return
    apply_list_style()
    page_top(frame.chat.title or "Untitled", frame.forky, frame.session, frame.chat)
    with st.container(key="column-bisect"):
        _draw(frame)


def _draw(frame: Frame) -> None:
    branch = plain_label(frame.chat.branch_name, 60)
    st.markdown(f"**Find where “{branch}” went wrong**")
    st.caption(
        "The branch is halved until the first message is found from which something fails: 8 probes at most for 100 messages. "
        "Nothing is written to it; what was found is noted in History."
    )
    held = frame.session.searching
    if held is not None and (held.conversation, held.branch) == (frame.chat.id, frame.chat.branch_name):
        draw_search(frame, held)
    else:
        draw_form(frame)
    chat_link(f"Back to {frame.chat.branch_name}", frame.chat.id, frame.chat.branch_name)


main()
