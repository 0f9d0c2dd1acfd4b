"""The Library: every conversation, search over all of their branches, import, and the trash.

The frame is the workspace and the session of the tab, the view model is the lines of a shelf (views/shelf.py), and
pages/ui/library draws it.
"""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.conversation.workspace import Workspace
from forky_core.views.shelf import Sort, count, shelf
from pages.ui.components.buttons import main_button
from pages.ui.components.links import follow_a_link_opened_beside
from pages.ui.components.lists import apply_list_style
from pages.ui.components.live_updates import hear_library
from pages.ui.components.starting import new_conversation
from pages.ui.components.undoing import last_shown, page_top
from pages.ui.library.broken_off import draw_broken_off
from pages.ui.library.importing import draw_import
from pages.ui.library.result_keys import walk_findings
from pages.ui.library.searching import draw_findings, has_words
from pages.ui.library.shared import draw_shared, open_links
from pages.ui.library.shelving import draw_lines, draw_trash
from pages.ui.page import Page
from pages.ui.people.waiting import draw_waiting
from pages.ui.person import Whose, viewer
from pages.ui.session import TabSession, session
from pages.ui.workspace import workspace

PAGE = Page(title="Library", icon="library_books", order=40, about_conversation=False)

_SORTS: dict[Sort, str] = {
    "changed": "Last changed",
    "created": "Newest",
    "title": "Title",
    "messages": "Most messages",
}
_WHOSE: dict[Whose, str] = {
    "all": "Everything",
    "mine": "Mine",
    "with_me": "Shared with me",
    "by_me": "Shared by me",
}
ABOUT = "Every conversation here: find it, bring others in, share them or take them away."


def main() -> None:
    follow_a_link_opened_beside()
    forky, tab = workspace(), session()
    apply_list_style()
    page_top("Library", forky, tab, last_shown(forky, tab), names_it=True, about=ABOUT)
    words = _tools()
    walked = st.container()
    draw_broken_off(forky, tab)
    found = _draw_tab(forky, tab, words)
    with walked:
        walk_findings(words, found=found)


def _draw_tab(forky: Workspace, tab: TabSession, words: str) -> bool:
    """Whether it shows what these words found."""
    trashed = forky.conversations(trashed=True)
    shown_tab = _tab(len(trashed), open_links(forky))
    if shown_tab == "trash":
        draw_trash(forky, tab, trashed)
        return False
    if shown_tab == "import":
        draw_import(forky, tab)
        return False
    hear_library(forky)
    if shown_tab == "shared":
        draw_shared(forky, tab)
        return False
    page = int(st.session_state.get("library.page", 1))
    sort: Sort = st.session_state.get("library.sort", "changed")
    whose: Whose = st.session_state.get("library.whose", "all")
    asked_for = viewer().listed(forky.conversations(), whose)
    listed = shelf(asked_for, now=now(), words=words, sort=sort, page=page)
    if has_words(words):
        if listed.lines:
            st.markdown("## Titles")
            draw_lines(forky, tab, listed)
        st.markdown("## Messages")
        return draw_findings(forky, words) or bool(listed.lines)
    who = viewer()
    if not who.alone:
        draw_waiting(forky, who)
    if not listed.total:
        _draw_empty()
    else:
        draw_lines(forky, tab, listed)
    return False


def _tools() -> str:
    """The row of search, sort, whose and new; what is being searched for."""
    st.session_state.setdefault("library.search", st.query_params.get("q", ""))
    with st.container(key="column-library", horizontal=True, vertical_alignment="center"):
        words = st.text_input(
            "Search titles and messages",
            key="library.search",
            type="search",
            placeholder="Search titles and every message of every branch",
            label_visibility="collapsed",
            live=True,
            on_change=_searched,
        )
        st.selectbox(
            "Sort by",
            list(_SORTS),
            key="library.sort",
            format_func=_SORTS.__getitem__,
            label_visibility="collapsed",
            width=160,
            persist_state="session",
        )
        who = viewer()
        if not who.alone:
            st.selectbox(
                "Whose",
                list(_WHOSE),
                key="library.whose",
                format_func=_WHOSE.__getitem__,
                label_visibility="collapsed",
                width=160,
                persist_state="session",
            )
        if who.may("begin") and main_button("New chat", "library.new", icon="add"):
            new_conversation(workspace(), session())
    return words or ""


def _searched() -> None:
    """The search is part of the address, so that Back returns to what was found."""
    words = st.session_state["library.search"] or ""
    st.session_state.pop("search.limit", None)
    st.session_state.pop("library.page", None)
    if has_words(words):
        st.query_params["q"] = words[:500]
    else:
        st.query_params.pop("q", None)


def _tab(trashed: int, links: int) -> str:
    labels = {
        "kept": "Conversations",
        "shared": f"Shared ({count(links, 'link')})" if links else "Shared",
        "import": "Import",
        "trash": f"Trash ({trashed})",
    }
    shown = [
        name for name in labels if name != "trash" or trashed or st.session_state.get("library.tab") == name
    ]
    st.session_state.setdefault("library.tab", "kept")
    return str(
        st.segmented_control(
            "Shelf",
            shown,
            key="library.tab",
            required=True,
            format_func=labels.__getitem__,
            label_visibility="collapsed",
        )
    )


def _draw_empty() -> None:
    with st.container(key="library-empty", horizontal_alignment="center"):
        st.markdown("## No conversation yet")
        if not viewer().may("begin"):
            st.caption("What is shared with you is listed here.")
            return
        st.caption(
            "Begin one: it needs no key, two offline models answer on a fresh machine. Or bring those you have: "
            "Import, above."
        )


main()
