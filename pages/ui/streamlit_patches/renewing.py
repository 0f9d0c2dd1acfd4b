"""Keys for widgets whose default changes under them."""

from __future__ import annotations

import streamlit as st


def anew(key: str, mark: str) -> str:
    """A key for a widget that begins anew whenever what it stands for changed elsewhere (another branch, undo).

    Its value must be its default and not set through the session: a popover mounts its widgets when it is opened, and
    what the session set in an earlier run is lost on them.
    """
    marks: dict[str, tuple[str, int]] = st.session_state.setdefault("_marks", {})
    seen, number = marks.get(key, ("", 0))
    if seen != mark:
        number += 1
        marks[key] = (mark, number)
    return f"{key}.{number}"
