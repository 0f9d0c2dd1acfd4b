"""Keys that make Streamlit use a widget's new default, which it otherwise ignores once the widget exists."""

from __future__ import annotations

import streamlit as st


def anew(key: str, mark: str) -> str:
    """Return a key for a widget that uses its default again whenever `mark` changes: on another branch, after an undo.

    Pass the value as the widget's default, and do not set it through the session: a popover makes its widgets when it
    is opened, and they ignore what the session set in an earlier run.
    """
    marks: dict[str, tuple[str, int]] = st.session_state.setdefault("_marks", {})
    last, number = marks.get(key, ("", 0))
    if last != mark:
        number += 1
        marks[key] = (mark, number)
    return f"{key}.{number}"
