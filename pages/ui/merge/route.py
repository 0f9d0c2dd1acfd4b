"""From which branch, or branches, into which: also several at once, and a branch of another conversation."""

from __future__ import annotations

import streamlit as st

from forky_core.model import ConversationId
from forky_core.model.errors import ForkyError
from forky_core.views.shelf import called
from pages.ui.components.markdown import plain_label
from pages.ui.frame import Frame
from pages.ui.merge.choices import want
from pages.ui.merge.planning import MergeOptions

_ELSEWHERE = "\0elsewhere"
"""The choice of another conversation: no branch can have this name."""
_MOST_LISTED = 200
"""Conversations offered to graft from."""


def draw_route(frame: Frame, wish: MergeOptions) -> None:
    """Keys: `merge.source`, `merge.target`, `merge.swap`, `merge.others`, `merge.conversation`, `merge.branch`."""
    branches = list(frame.chat.branches)
    with st.container(key="merge-route"):
        left, middle, right = st.columns([12, 1, 12], vertical_alignment="bottom", gap="small")
        with left:
            _draw_source(frame, wish, branches)
        with middle, st.container(horizontal_alignment="center"):
            st.button(
                "Swap the two",
                key="merge.swap",
                icon=":material/swap_horiz:",
                type="tertiary",
                help="Swap the two",
                disabled=wish.graft is not None,
                on_click=_swap,
                args=(wish,),
            )
        with right:
            st.session_state["merge.target"] = wish.target
            st.selectbox("into", branches, key="merge.target", on_change=_change_target, args=(wish,))
        if wish.graft is not None:
            _draw_elsewhere(frame, wish, wish.graft)
        elif len(branches) > 2:
            _draw_others(wish, branches)


def _draw_source(frame: Frame, wish: MergeOptions, branches: list[str]) -> None:
    others = len(frame.forky.conversations()) > 1
    st.session_state["merge.source"] = _ELSEWHERE if wish.graft is not None else wish.source
    st.selectbox(
        "Merge",
        [*branches, _ELSEWHERE] if others or wish.graft is not None else branches,
        key="merge.source",
        format_func=lambda name: "A branch of another conversation …" if name == _ELSEWHERE else name,
        on_change=_change_source,
        args=(frame, wish),
    )


def _change_source(frame: Frame, wish: MergeOptions) -> None:
    source = st.session_state["merge.source"]
    _forget()
    if source == _ELSEWHERE:
        other = next((s for s in frame.forky.conversations() if s.id != frame.chat.id), None)
        want(graft=other.id if other else None, source=other.branch if other else None)
        return
    target = wish.source if source == wish.target else wish.target
    want(b=target, source=source, graft=None)


def _change_target(wish: MergeOptions) -> None:
    target = st.session_state["merge.target"]
    source = wish.target if target == wish.source and wish.graft is None else wish.source
    _forget()
    want(b=target, source=source)


def _swap(wish: MergeOptions) -> None:
    _forget()
    want(b=wish.source, source=wish.target)


def _forget() -> None:
    """What was chosen for another pair of branches."""
    want(picks=None, force=None, budget=None, m=None, again=None)
    st.query_params.pop("with", None)


def _draw_others(wish: MergeOptions, branches: list[str]) -> None:
    """An octopus: more branches in the same message."""
    choices = [name for name in branches if name not in (wish.source, wish.target)]
    st.session_state["merge.others"] = [name for name in wish.others if name in choices]
    st.multiselect(
        "and at once",
        choices,
        key="merge.others",
        placeholder="Further branches in the same message (optional)",
        label_visibility="collapsed",
        on_change=_change_others,
    )


def _change_others() -> None:
    chosen = st.session_state["merge.others"]
    if chosen:
        st.query_params["with"] = chosen
    else:
        st.query_params.pop("with", None)


def _draw_elsewhere(frame: Frame, wish: MergeOptions, graft: ConversationId) -> None:
    """A graft: which conversation, and which branch of it."""
    titles = {
        s.id: called(s.title) for s in frame.forky.conversations()[:_MOST_LISTED] if s.id != frame.chat.id
    }
    try:
        other = frame.forky.conversation(graft, wish.source)
    except ForkyError as error:
        st.caption(plain_label(str(error), 200))
        return
    titles.setdefault(graft, called(other.title))
    left, right = st.columns(2)
    with left:
        st.session_state["merge.conversation"] = graft
        st.selectbox(
            "Conversation",
            list(titles),
            key="merge.conversation",
            format_func=lambda id: titles[id],
            on_change=lambda: want(graft=st.session_state["merge.conversation"], source=None, picks=None),
        )
    with right:
        st.session_state["merge.branch"] = wish.source
        st.selectbox(
            "Its branch",
            list(other.branches),
            key="merge.branch",
            on_change=lambda: want(source=st.session_state["merge.branch"], picks=None),
        )
