"""The list of conversations beside every page: pinned ones, folders, days; new chat, search, and what is being written.

The browser makes the lines itself (sidebar.js), so that two thousand conversations are one message. On a phone the list
is a drawer, with the pages above it. The list is a fragment: it is drawn again, and nothing else, when others have
changed what it shows, of which the browser is told by the page's own connection or by one of the list
(forky_core/gateway/moving.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.conversation.pins import pin, pinned
from forky_core.gateway.moving import LIBRARY, PREFIX
from forky_core.model import ConversationSummary
from forky_core.views.shelf import ShelfLine, newest_of_a_person, shelf_by_day
from pages.ui.components.error_boundary import error_boundary
from pages.ui.components.markdown import showable
from pages.ui.components.starting import begin_conversation
from pages.ui.frame import open_chat, saying
from pages.ui.person import viewer
from pages.ui.session import session
from pages.ui.workspace import state_of_list, workspace

_KEY = "sidebar"
_MOST = "sidebar.most"
_WHOSE = "sidebar.whose"
_LEADS = "sidebar.leads"
"""Whether what was pressed leads elsewhere, so that the page is to run and not the list alone."""
_LINES = 60
"""How many conversations that are not pinned are listed at first; each press of “Show more” adds as many."""
_LONGEST = 120
"""Characters of a title; the browser cuts it to the width of the list."""
_HERE = Path(__file__).parent
_component = st.components.v2.component(
    "forky.sidebar",
    js=(_HERE / "sidebar.js").read_text("utf-8"),
    css=(_HERE / "sidebar.css").read_text("utf-8"),
    html='<nav class="fk-chats" aria-label="Conversations"></nav>',
    isolate_styles=False,
)


def draw_sidebar() -> None:
    """Draw the list in Streamlit's sidebar. Keys: `sidebar`."""
    workspace().conversations()  # Where they cannot be read, the whole page says so, and not the list.
    with st.sidebar:
        _draw_list()


@st.fragment
@error_boundary
def _draw_list() -> None:
    if st.session_state.pop(_LEADS, False):
        st.rerun(scope="app")
    forky, tab, who = workspace(), session(), viewer()
    state = state_of_list(forky)  # Before what it tells of is read.
    begun = [one for one in forky.conversations() if one.branches]
    kept = pinned(forky.store, who.id)
    whose = _whose(begun)
    # What a person pinned is theirs, too.
    listed = [
        one
        for one in begun
        if not whose or (bool(one.program) if whose == "programs" else not one.program or one.id in kept)
    ]
    most = int(st.session_state.get(_MOST, _LINES))
    days = shelf_by_day(listed, now=now(), pinned=kept, most=most)
    shown = [line for day in days for line in day.lines]
    news = who.news_in([(line.summary.id, line.summary.updated) for line in shown])
    waiting = reversed(who.reviews(forky).to_review)  # Of several in one, the newest is named.
    asking = {one.conversation: who.name_of(one.request.by) for one in waiting}
    writing = {job.place.conversation for job in forky.replies.running()}
    here = st.query_params.get("c") or tab.conversation or newest_of_a_person(begun) or ""

    def line(one: ShelfLine) -> list[object]:
        summary = one.summary
        sign = (
            "writing"
            if summary.id in writing
            else "new"
            if summary.id in news or summary.id in asking
            else ""
        )
        return [
            summary.id,
            summary.branch,
            showable(one.title)[:_LONGEST],
            f"{one.counts} · {one.when}",
            sign,
            showable(summary.program),
            showable(asking.get(summary.id, "")),
        ]

    _component(
        key=_KEY,
        # As a list: for a mapping Streamlit loads pandas.
        data=[
            str(here),
            who.may("begin"),
            len(listed) > len(shown),
            whose,
            [[day.name, [line(one) for one in day.lines], day.is_folder] for day in days],
            f"{PREFIX}/{LIBRARY}",
            state,
        ],
        on_asked_change=_carry_out,
        height="content",
    )


def _whose(begun: Sequence[ConversationSummary]) -> str:
    """Whose conversations are listed, "mine" or "programs"; "" where no program began one."""
    if not any(one.program for one in begun):
        return ""
    every = all(one.program for one in begun)
    return str(st.session_state.get(_WHOSE, "programs" if every else "mine"))


def _carry_out() -> None:
    """Do what was pressed. It comes from a browser, so each name in it is looked up."""
    asked: Any = st.session_state.get(_KEY, {}).get("asked")
    forky, tab, who = workspace(), session(), viewer()
    with saying(tab):
        match asked:
            case {"new": _}:
                begin_conversation(forky, tab)
            case {"open": str(id)}:
                open_chat(forky.conversation(id, tab.branch if id == tab.conversation else None))
            case {"pin": str(id), "on": bool(on)}:
                pin(forky.store, forky.conversation(id).id, who.id, on=on)
            case {"whose": "mine" | "programs" as whose}:
                st.session_state[_WHOSE] = whose
            case {"more": _}:
                st.session_state[_MOST] = int(st.session_state.get(_MOST, _LINES)) + _LINES
    if isinstance(asked, dict) and (asked.keys() & {"new", "open"} or tab.notice != tab.shown_notice):
        st.session_state[_LEADS] = True
