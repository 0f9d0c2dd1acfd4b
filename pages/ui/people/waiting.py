"""The merge requests that wait for whoever looks at the Library, or alone at the Inbox, and their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.conversation.workspace import Workspace
from forky_core.views.shelf import title_or_placeholder
from forky_core.views.times import ago
from pages.ui.components.links import page_link
from pages.ui.components.markdown import plain_label
from pages.ui.person import Viewer, WaitingRequest

_SHOWN = 6
"""Requests of each list."""


def draw_waiting(forky: Workspace, who: Viewer) -> None:
    """Two lists, each with its count; nothing where both are empty. Keys: `waiting-review`, `waiting-mine`."""
    lists = who.reviews(forky)
    if lists.to_review:
        _draw_list("Needs my review", "rate_review", lists.to_review, who, key="waiting-review", open_=True)
    if lists.mine:
        _draw_list("My requests", "outgoing_mail", lists.mine, who, key="waiting-mine", open_=False)


def _draw_list(
    title: str, icon: str, lines: Sequence[WaitingRequest], who: Viewer, *, key: str, open_: bool
) -> None:
    with (
        st.container(key=key),
        st.expander(f"{title} ({len(lines)})", icon=f":material/{icon}:", expanded=open_),
    ):
        for line in lines[:_SHOWN]:
            _draw_line(line, who, key)
        if len(lines) > _SHOWN:
            st.caption(f"and {len(lines) - _SHOWN} older ones")


def _draw_line(line: WaitingRequest, who: Viewer, key: str) -> None:
    request, name_of = line.request, who.name_of
    sources = ", ".join(f"“{plain_label(name, 40)}”" for name in request.named)
    with st.container(
        key=f"row-{key}-{line.conversation}-{request.number}", horizontal=True, vertical_alignment="center"
    ):
        page_link(
            "merge.py",
            f"{sources} into “{plain_label(request.into, 40)}”",
            {"c": str(line.conversation), "b": request.into, "request": str(request.number)},
            icon="call_merge",
        )
        whose = "" if request.by == who.id else f"{plain_label(name_of(request.by), 40)} · "
        st.caption(
            f"{plain_label(title_or_placeholder(line.title), 60)} · {whose}{ago(request.at, now())}",
            width="content",
        )
        st.caption(plain_label(state_words(line, name_of), 200), width="content")


def state_words(line: WaitingRequest, name_of: Callable[[str], str]) -> str:
    """Where a request stands, in a few words."""
    if line.asking:
        asks = "asks" if len(line.asking) == 1 else "ask"
        return f"{' and '.join(map(name_of, line.asking))} {asks} for changes."
    if line.approved:
        return f"Approved by {' and '.join(map(name_of, line.approved))}."
    return "Waits for an answer."
