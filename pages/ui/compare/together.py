"""What can be made of the answers of one row of Compare: their diff, and one answer of all."""

from __future__ import annotations

import streamlit as st

from forky_core.views.compare import Comparison, TurnRow
from forky_core.views.textdiff import text_diff
from pages.ui.compare.fusing import draw_fusion, offer_fusion
from pages.ui.components.diff import draw_diff
from pages.ui.components.markdown import plain_label
from pages.ui.frame import Frame

_DIFF = "compare.diff"
_LAYOUT = "compare.layout"


def draw_together(frame: Frame, found: Comparison, row: TurnRow, number: int) -> None:
    """What can be made of the answers of a row: their diff, one answer of all; each when it is asked for."""
    answered = [at for at, turn in enumerate(row.turns) if turn is not None and turn.text]
    if len(answered) < 2:
        return
    open_one = st.session_state.get(_DIFF)
    with st.container(key=f"line-compare-row-{number}", horizontal=True):
        st.button(
            "Hide the difference" if open_one == number else "Show the difference",
            key=f"compare.diff.{number}",
            type="tertiary",
            icon=":material/difference:",
            on_click=_toggle_diff,
            args=(number,),
        )
        offer_fusion(row, number)
    if open_one == number:
        _draw_difference(found, row, number, answered)
    draw_fusion(frame, found, row)


def _draw_difference(found: Comparison, row: TurnRow, number: int, answered: list[int]) -> None:
    one, other, beside = _which(found, answered, number)
    texts = [turn.text if turn else "" for turn in row.turns]
    diff = text_diff(texts[one], texts[other])
    names = (found.columns[one].side.label, found.columns[other].side.label)
    st.caption(
        f"{plain_label(names[0], 60)} → {plain_label(names[1], 60)} · {diff.same_share:.0%} of the text in common"
    )
    draw_diff(diff, names, beside=beside, key=f"compare.diff.{number}")


def _toggle_diff(number: int) -> None:
    st.session_state[_DIFF] = None if st.session_state.get(_DIFF) == number else number


def _which(found: Comparison, answered: list[int], number: int) -> tuple[int, int, bool]:
    """Two columns and the layout."""
    with st.container(key=f"line-compare-diff-{number}", horizontal=True, vertical_alignment="bottom"):
        st.session_state.setdefault(_LAYOUT, "beside")
        beside = st.segmented_control(
            "Layout",
            ["beside", "inline"],
            format_func=lambda value: "Side by side" if value == "beside" else "Inline",
            key=_LAYOUT,
            required=True,
            label_visibility="collapsed",
        )
        if len(answered) == 2:
            return answered[0], answered[1], beside == "beside"

        def label(at: int) -> str:
            return found.columns[at].side.label

        one = st.selectbox("From", answered, format_func=label, key=f"compare.from.{number}", width=180)
        rest = [at for at in answered if at != one]
        other = st.selectbox("To", rest, format_func=label, key=f"compare.to.{number}", width=180)
    return one, other, beside == "beside"
