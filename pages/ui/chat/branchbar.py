"""What stands beside the title of a conversation: which branch is checked out, and the menu of what can be done."""

from __future__ import annotations

import streamlit as st

from forky_core.model.errors import ForkyError
from forky_core.model.view import FORKED_FROM
from forky_core.views.layout.shape import main_of
from forky_core.views.merging import came_from
from pages.ui.chat.branch_owners import draw_whose
from pages.ui.chat.branchbox import draw_branchbox
from pages.ui.chat.people import link_people, people
from pages.ui.chat.threads import link_threads, list_threads
from pages.ui.components.branch_menu import BRANCH_MENU, EDITS_CHAT, READING_BRANCH, WRITES_BRANCH
from pages.ui.components.buttons import quiet_button, submit_button
from pages.ui.components.markdown import plain_label
from pages.ui.components.notice import done
from pages.ui.components.only_reading import is_editor, may_write, why_only_reads
from pages.ui.components.showing import start_demo
from pages.ui.frame import Frame, go, open_page, place, saying
from pages.ui.keeping.fields import kept_fields
from pages.ui.merge.requests import link_requests
from pages.ui.people.who_sees import mark_button, who_sees
from pages.ui.person import viewer
from pages.ui.vote.links import link_polls


def draw_branchbar(here: Frame) -> None:
    """Draw the box of branches, the way back from a side branch, and what waits in this conversation or concerns its
    people.

    Keys: `chat.branch`, `chat.bring_back`, `chat.sees`, `chat.threads`.
    """
    with st.container(key="line-branch", horizontal=True, vertical_alignment="center"):
        draw_branchbox(here, lambda name: _switch(here, name))
        if here.chat.branch.head is None and len(here.chat.branches) == 1:  # There is nothing to choose yet.
            st.html("<style>.st-key-chat-branch { visibility: hidden; }</style>")
        if here.chat.branch_name != main_of(here.chat.view.branches) and not why_only_reads(here.chat):
            quiet_button(
                "Bring back",
                "chat.bring_back",
                _bring_back,
                here,
                icon="merge",
                help="Bring this branch back to where it came from. You read first what would be brought",
            )
        who = viewer()
        draw_whose(here)
        link_requests(here)
        link_polls(here)
        mark = who.mark(here.chat.id)
        asked_who = link_people(here) if who.alone else False
        asked_threads = link_threads(here)
        asked_sees = mark is not None and mark_button(mark, key="chat.sees")
    if asked_sees:
        who_sees(who, here.session, here.chat)
    elif asked_threads:
        list_threads(here)
    elif asked_who:
        people(here)


def offered_in_menu(here: Frame) -> dict[str, str]:
    """What the menu offers to whoever looks at the branch: labels by act."""
    unoffered = {"reuse" if here.chat.calls.reuses_answers else "anew"}
    if len(here.branch_names()) < 2:
        unoffered.add("merge")
    if FORKED_FROM not in here.chat.view.entries:
        unoffered.add("original")
    if why_only_reads(here.chat):
        unoffered.update(BRANCH_MENU.keys() - READING_BRANCH)
    elif not is_editor(here.chat):
        unoffered.update(
            EDITS_CHAT | (set() if may_write(here.chat, here.chat.branch_name) else WRITES_BRANCH)
        )
    return {act: label for act, label in BRANCH_MENU.items() if act not in unoffered}


def carry_out(here: Frame, act: str | None) -> None:
    """Do what was chosen in the menu."""
    match act:
        case "merge":
            _bring_back(here)
            st.rerun()
        case "rename":
            _rename_branch(here)
        case "title":
            _rename_title(here)
        case "folder":
            _put_into(here)
        case "share":
            from pages.ui.library.sharing import share  # noqa: PLC0415 - every format's writer: the first page needs none

            share(here.forky, here.chat)
        case "present":
            start_demo(here.chat, here.at)
        case "people":
            people(here)
        case "history":
            st.switch_page("history.py", query_params=place(here.chat))
        case "original":
            from pages.ui.chat.original import show_original  # noqa: PLC0415 - it loads a client for HTTP

            show_original(here)
        case "reuse" | "anew":
            _give_again(here, on=act == "reuse")
        case "delete":
            _delete(here)
        case _:
            pass


def _bring_back(here: Frame) -> None:
    """Of the main branch, which one comes back is chosen there."""
    chat = here.chat
    home = came_from(chat.view, chat.visible, chat.branch_name, chat.branches.origin)
    if home is None or chat.branch_name == main_of(chat.view.branches):
        open_page("merge.py", place(chat))
    else:
        open_page("merge.py", place(chat.checkout(home)) | {"source": chat.branch_name})


def _switch(here: Frame, name: str) -> None:
    with saying(here.session):
        here.session.acting = None
        go(here.chat.checkout(name))


def _delete(here: Frame) -> None:
    with saying(here.session):
        done(here.session, here.chat.branches.delete())
        go(here.chat.checkout(main_of(here.chat.view.branches)))
    st.rerun()


def _give_again(here: Frame, *, on: bool) -> None:
    """An identical call at temperature 0 is answered from what is stored, in this conversation."""
    with saying(here.session):
        done(here.session, here.chat.calls.set_reuse(on))
    st.rerun()


@st.dialog("Rename this chat")
def _rename_title(here: Frame) -> None:
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


@st.dialog("Folder of this chat")
def _put_into(here: Frame) -> None:
    """Keys: `folder.name`, `folder.go`."""
    now = here.chat.view.folder
    names = sorted({now, *(one.folder for one in here.forky.conversations())} - {""}, key=str.casefold)
    with st.form("folder", border=False):
        st.selectbox(
            "Choose one, or type a new name",
            ["", *names],
            names.index(now) + 1 if now else 0,
            format_func=lambda one: one or "No folder",
            key="folder.name",
            accept_new_options=True,
        )
        if submit_button("Put it there", "folder.go", _save_folder, here):
            st.rerun()


def _save_folder(here: Frame) -> None:
    with saying(here.session):
        done(here.session, here.chat.put_into(st.session_state["folder.name"] or ""))


@st.dialog("Rename this branch")
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
