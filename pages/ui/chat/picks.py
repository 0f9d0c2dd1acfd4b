"""The bars of marked and of picked messages: two marks go to the Compare page, picks to Merge or the clipboard."""

from __future__ import annotations

import streamlit as st

from forky_core.model.errors import ForkyError
from forky_core.model.payload_kinds import CHERRY_PICK
from pages.ui.components.buttons import button, quiet_button
from pages.ui.components.markdown import plain_label
from pages.ui.frame import Frame, place


def draw_marks(here: Frame) -> None:
    """Keys: `chat.marks_compare`, `chat.marks_clear`."""
    marks = {"A": here.session.mark_a, "B": here.session.mark_b}
    said = [
        f"**{sign}** {plain_label(here.chat.visible.messages[id].text, 40)}"
        for sign, id in marks.items()
        if id is not None and id in here.chat.visible.messages
    ]
    if not said:
        return
    with st.container(key="line-marks", horizontal=True, vertical_alignment="center"):
        missing = "" if len(said) == 2 else " – mark another to compare them"
        st.markdown(" · ".join(said) + missing, width="content")
        if len(said) == 2 and button("Compare A and B", "chat.marks_compare", icon="view_column_2"):
            st.switch_page("compare.py", query_params=place(here.chat))
        quiet_button("Clear", "chat.marks_clear", _unmark, here, icon="close")


def draw_picks(here: Frame) -> None:
    """Keys: `chat.picks_merge`, `chat.picks_copy`, `chat.picks_clear`."""
    picks = here.session.picks
    if not picks:
        return
    with st.container(key="line-picks", horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{len(picks)}** chosen", width="content")
        if st.button("Bring them back …", key="chat.picks_merge", icon=":material/merge:"):
            st.switch_page(
                "merge.py",
                query_params={
                    "c": str(here.chat.id),
                    "source": here.chat.branch_name,
                    "strategy": CHERRY_PICK.name,
                },
            )
        button("Copy", "chat.picks_copy", _copy, here, icon="content_copy")
        quiet_button("Clear", "chat.picks_clear", _clear, here, icon="close")


def _unmark(here: Frame) -> None:
    here.session.mark_a = here.session.mark_b = None


def _clear(here: Frame) -> None:
    here.session.picks = ()


def _copy(here: Frame) -> None:
    texts = []
    for id in here.session.picks:
        try:
            texts.append(here.chat.message(id).text)
        except ForkyError:
            continue
    here.session.copied = (here.session.copied[0] + 1, "\n\n".join(texts))
    here.session.say("Copied.")
