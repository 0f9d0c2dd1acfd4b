"""The line below the title: which branch is checked out, what can be done with it, and a new conversation."""

from __future__ import annotations

import streamlit as st

from forky_core.model.errors import ForkyError
from pages.ui.chat.branchbox import draw_branchbox
from pages.ui.chat.people import link_people, people
from pages.ui.components.markdown import plain_label
from pages.ui.components.notice import done
from pages.ui.components.starting import begin_conversation
from pages.ui.frame import Frame, go, place, saying
from pages.ui.merge.requests import link_requests

_MENU = {
    "rename": "Rename this branch …",
    "people": "Who takes part …",
    "bisect": "Find where it went wrong …",
    "reuse": "Give stored answers again",
    "anew": "Always ask anew",
    "share": "Export or share …",
    "delete": "Delete this branch",
}


def draw_branchbar(here: Frame) -> None:
    """Keys: `chat.branch`, `chat.branch_menu`, `chat.new`."""
    with st.container(key="line-branch", horizontal=True, vertical_alignment="center"):
        draw_branchbox(here, lambda name: _switch(here, name))
        chosen = st.menu_button(
            "Rename or delete this branch",
            [act for act in _MENU if act != ("reuse" if here.chat.gives_again else "anew")],
            key="chat.branch_menu",
            icon=":material/more_horiz:",
            type="tertiary",
            format_func=_MENU.__getitem__,
            help="Rename, search or delete this branch, export or share",
        )
        link_requests(here)
        asked_who = link_people(here)
        st.button(
            "New",
            key="chat.new",
            icon=":material/add_comment:",
            type="tertiary",
            help="Begin another conversation",
            on_click=begin_conversation,
            args=(here.forky, here.session),
        )
    if chosen == "people" or asked_who:
        people(here)
    elif chosen == "rename":
        _rename_branch(here)
    elif chosen == "bisect":
        st.switch_page("bisection.py", query_params=place(here.chat))
    elif chosen == "delete":
        _delete(here)
    elif chosen in ("reuse", "anew"):
        _give_again(here, on=chosen == "reuse")
    elif chosen == "share":
        from pages.ui.library.sharing import share  # noqa: PLC0415 - every format's writer: the first page needs none

        share(here.forky, here.chat)


def _switch(here: Frame, name: str) -> None:
    with saying(here.session):
        here.session.acting = None
        go(here.chat.checkout(name))


def _delete(here: Frame) -> None:
    with saying(here.session):
        done(here.session, here.chat.delete_branch())
        names = here.chat.branches
        go(here.chat.checkout("main" if "main" in names else next(iter(names))))
    st.rerun()


def _give_again(here: Frame, *, on: bool) -> None:
    """An identical call at temperature 0 is answered from what is stored, in this conversation."""
    with saying(here.session):
        done(here.session, here.chat.give_again(on))
    st.rerun()


@st.dialog("Rename the conversation")
def rename_title(here: Frame) -> None:
    """Keys: `rename.name`, `rename.go`."""
    with st.form("rename", border=False):
        st.text_input("Title", here.chat.title, key="rename.name", max_chars=200)
        if not st.form_submit_button("Rename", key="rename.go", type="primary"):
            return
    try:
        here.chat.rename(st.session_state["rename.name"])
    except ForkyError as error:
        st.markdown(plain_label(str(error), 300))
        return
    st.rerun()


@st.dialog("Rename the branch")
def _rename_branch(here: Frame) -> None:
    """Keys as above."""
    with st.form("rename", border=False):
        st.text_input("Name", here.chat.branch_name, key="rename.name", max_chars=100)
        if not st.form_submit_button("Rename", key="rename.go", type="primary"):
            return
    try:
        renamed = here.chat.rename_branch(st.session_state["rename.name"])
    except ForkyError as error:
        st.markdown(plain_label(str(error), 300))
        return
    here.session.draft_follows = True
    go(renamed)
    st.rerun()
