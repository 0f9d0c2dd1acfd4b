"""Keys that make Streamlit take a widget's new default, which it ignores for a widget that it knows."""

from __future__ import annotations

import streamlit as st


def anew(key: str, mark: str) -> str:
    """A key for a widget that takes its default anew whenever `mark` changes: on another branch, after an undo.

    Give the widget its value as its default, and do not set it through the session: a popover makes its widgets when
    it is opened, and they ignore what the session set in an earlier run.
    """
    marks: dict[str, tuple[str, int]] = st.session_state.setdefault("_marks", {})
    seen, number = marks.get(key, ("", 0))
    if seen != mark:
        number += 1
        marks[key] = (mark, number)
    return f"{key}.{number}"
