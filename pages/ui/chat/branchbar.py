"""The line below the title: which branch is checked out, what can be done with it, and a new conversation."""

from __future__ import annotations

import streamlit as st

from forky_core.model.errors import ForkyError
from pages.ui.chat.branch_owners import draw_whose
from pages.ui.chat.branchbox import draw_branchbox
from pages.ui.chat.people import link_people, people
from pages.ui.chat.threads import link_threads, list_threads
from pages.ui.components.branch_menu import BRANCH_MENU, READING_BRANCH, WRITES_BRANCH
from pages.ui.components.markdown import plain_label
from pages.ui.components.notice import done
from pages.ui.components.only_reading import is_editor, may_write, why_only_reads
from pages.ui.components.showing import present_link
from pages.ui.components.starting import begin_conversation
from pages.ui.frame import Frame, go, saying
from pages.ui.keeping.fields import kept_fields
from pages.ui.merge.requests import link_requests
from pages.ui.people.who_sees import mark_button, who_sees
from pages.ui.person import viewer
from pages.ui.vote.links import link_polls


def draw_branchbar(here: Frame) -> None:
    """Keys: `chat.branch`, `chat.branch_menu`, `chat.present`, `chat.sees`, `chat.threads`, `chat.new`."""
    with st.container(key="line-branch", horizontal=True, vertical_alignment="center"):
        draw_branchbox(here, lambda name: _switch(here, name))
        who = viewer()
        chosen = st.menu_button(
            "More about this branch",
            _offered(here),
            key="chat.branch_menu",
            icon=":material/more_horiz:",
            type="tertiary",
            format_func=BRANCH_MENU.__getitem__,
            help="What else can be done with this branch",
        )
        draw_whose(here)
        present_link(here.chat, here.at, key="chat.present")
        link_requests(here)
        link_polls(here)
        mark = who.mark(here.chat.id)
        asked_who = link_people(here) if who.alone else False
        asked_threads = link_threads(here)
        asked_sees = mark is not None and mark_button(mark, key="chat.sees")
        if who.may("begin"):
            st.button(
                "New",
                key="chat.new",
                icon=":material/add_comment:",
                type="tertiary",
                help="Begin another conversation",
                on_click=begin_conversation,
                args=(here.forky, here.session),
            )
    if asked_sees:
        who_sees(who, here.session, here.chat)
    elif asked_threads:
        list_threads(here)
    elif chosen == "people" or asked_who:
        people(here)
    elif chosen == "rename":
        _rename_branch(here)
    elif chosen == "delete":
        _delete(here)
    elif chosen in ("reuse", "anew"):
        _give_again(here, on=chosen == "reuse")
    elif chosen == "share":
        from pages.ui.library.sharing import share  # noqa: PLC0415 - every format's writer: the first page needs none

        share(here.forky, here.chat)


def _offered(here: Frame) -> list[str]:
    """What the menu of the branch offers to whoever looks at it."""
    unoffered = {"reuse" if here.chat.calls.reuses_answers else "anew"}
    if why_only_reads(here.chat):
        unoffered.update(BRANCH_MENU.keys() - READING_BRANCH)
    elif not is_editor(here.chat):
        unoffered.update(
            {"reuse", "anew"} | (set() if may_write(here.chat, here.chat.branch_name) else WRITES_BRANCH)
        )
    return [act for act in BRANCH_MENU if act not in unoffered]


def _switch(here: Frame, name: str) -> None:
    with saying(here.session):
        here.session.acting = None
        go(here.chat.checkout(name))


def _delete(here: Frame) -> None:
    with saying(here.session):
        done(here.session, here.chat.branches.delete())
        names = here.chat.view.branches
        go(here.chat.checkout("main" if "main" in names else next(iter(names))))
    st.rerun()


def _give_again(here: Frame, *, on: bool) -> None:
    """An identical call at temperature 0 is answered from what is stored, in this conversation."""
    with saying(here.session):
        done(here.session, here.chat.calls.set_reuse(on))
    st.rerun()


@st.dialog("Rename the conversation")
def rename_title(here: Frame) -> None:
    """Keys: `rename.name`, `rename.go`."""
    with kept_fields("title", here.chat.id), st.form("rename", border=False):
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
    with kept_fields("branch", here.chat.id, here.chat.branch_name), st.form("rename", border=False):
        st.text_input("Name", here.chat.branch_name, key="rename.name", max_chars=100)
        if not st.form_submit_button("Rename", key="rename.go", type="primary"):
            return
    try:
        renamed = here.chat.branches.rename(st.session_state["rename.name"])
    except ForkyError as error:
        st.markdown(plain_label(str(error), 300))
        return
    here.session.draft_follows = True
    go(renamed)
    st.rerun()
