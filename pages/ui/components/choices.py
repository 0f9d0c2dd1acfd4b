"""What several pages ask in the same way: which of a few things, and whether something is to be done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import streamlit as st

from pages.ui.components.buttons import Act, main_button

T = TypeVar("T")


def choose_one(label: str, words: Mapping[T, str], key: str, *, labelled: bool = False, **named: Any) -> T:
    """Draw what there is to choose from, each in its words, and return the choice, at first the first one.

    The label is shown if `labelled`, and otherwise read to those who see none; `named` is handed on to Streamlit.
    """
    chosen: T = st.segmented_control(
        label,
        list(words),
        key=key,
        default=next(iter(words)),
        required=True,
        format_func=words.__getitem__,
        label_visibility="visible" if labelled else "collapsed",
        **named,
    )
    return chosen


def confirm(label: str, key: str, act: Act, *values: Any, keep: tuple[str, str], **named: Any) -> None:
    """Draw the end of a dialog: a button that calls `act` with `values`, and one that leaves things as they are, whose
    words and key are `keep`. Both close the dialog.
    """
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button(keep[0], key=keep[1]):
            st.rerun()
        if main_button(label, key, act, *values, **named):
            st.rerun()
