"""From which branch, or branches, into which: also several at once, and a branch of another conversation."""

from __future__ import annotations

import streamlit as st

from forky_core.model import ConversationId
from forky_core.model.errors import ForkyError
from forky_core.views.shelf import title_or_placeholder
from pages.ui.components.markdown import plain_label
from pages.ui.frame import Frame
from pages.ui.merge.choices import want
from pages.ui.merge.planning import MergeAddress

_ELSEWHERE = "\0elsewhere"
"""The choice of another conversation: no branch can have this name."""
_MOST_LISTED = 200
"""Conversations offered to graft from."""


def draw_route(frame: Frame, options: MergeAddress) -> None:
    """Keys: `merge.source`, `merge.target`, `merge.swap`, `merge.others`, `merge.conversation`, `merge.branch`."""
    branches = frame.branch_names(options.source, options.target, *options.others)
    with st.container(key="merge-route"):
        left, middle, right = st.columns([12, 1, 12], vertical_alignment="bottom", gap="small")
        with left:
            _draw_source(frame, options, branches)
        with middle, st.container(horizontal_alignment="center"):
            st.button(
                "Swap the two",
                key="merge.swap",
                icon=":material/swap_horiz:",
                type="tertiary",
                help="Swap the two",
                disabled=options.graft is not None,
                on_click=_swap,
                args=(options,),
            )
        with right:
            st.session_state["merge.target"] = options.target
            st.selectbox("into", branches, key="merge.target", on_change=_change_target, args=(options,))
        if options.graft is not None:
            _draw_elsewhere(frame, options, options.graft)
        elif len(branches) > 2:
            _draw_others(options, branches)


def _draw_source(frame: Frame, options: MergeAddress, branches: list[str]) -> None:
    others = len(frame.forky.conversations()) > 1
    st.session_state["merge.source"] = _ELSEWHERE if options.graft is not None else options.source
    st.selectbox(
        "Merge",
        [*branches, _ELSEWHERE] if others or options.graft is not None else branches,
        key="merge.source",
        format_func=lambda name: "A branch of another conversation …" if name == _ELSEWHERE else name,
        on_change=_change_source,
        args=(frame, options),
    )


def _change_source(frame: Frame, options: MergeAddress) -> None:
    source = st.session_state["merge.source"]
    _forget()
    if source == _ELSEWHERE:
        other = next((s for s in frame.forky.conversations() if s.id != frame.chat.id), None)
        want(graft=other.id if other else None, source=other.branch if other else None)
        return
    target = options.source if source == options.target else options.target
    want(b=target, source=source, graft=None)


def _change_target(options: MergeAddress) -> None:
    target = st.session_state["merge.target"]
    source = options.target if target == options.source and options.graft is None else options.source
    _forget()
    want(b=target, source=source)


def _swap(options: MergeAddress) -> None:
    _forget()
    want(b=options.source, source=options.target)


def _forget() -> None:
    """What was chosen for another pair of branches."""
    want(picks=None, force=None, budget=None, m=None, again=None)
    st.query_params.pop("with", None)


def _draw_others(options: MergeAddress, branches: list[str]) -> None:
    """An octopus: more branches in the same message."""
    choices = [name for name in branches if name not in (options.source, options.target)]
    st.session_state["merge.others"] = [name for name in options.others if name in choices]
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


def _draw_elsewhere(frame: Frame, options: MergeAddress, graft: ConversationId) -> None:
    """A graft: which conversation, and which branch of it."""
    titles = {
        s.id: title_or_placeholder(s.title)
        for s in frame.forky.conversations()[:_MOST_LISTED]
        if s.id != frame.chat.id
    }
    try:
        other = frame.forky.conversation(graft, options.source)
    except ForkyError as error:
        st.caption(plain_label(str(error), 200))
        return
    titles.setdefault(graft, title_or_placeholder(other.title))
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
        st.session_state["merge.branch"] = options.source
        st.selectbox(
            "Its branch",
            list(other.branches),
            key="merge.branch",
            on_change=lambda: want(source=st.session_state["merge.branch"], picks=None),
        )
