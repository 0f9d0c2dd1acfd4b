"""The bar at the top of a page: where one is, and one menu of what can be done there, first of all undo and redo."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from pages.ui.components.buttons import button
from pages.ui.components.markdown import plain_label

_MENU = "bar.menu"
_LONGEST = 36
"""Letters of what Undo and Redo say that they would do."""
UNDO, REDO = "undo", "redo"


def title_bar(
    title: str,
    *,
    undo: str | None,
    redo: str | None,
    on_undo: Callable[[], None],
    on_redo: Callable[[], None],
    offered: Mapping[str, str],
    beside: Callable[[], None],
) -> str | None:
    """Draw the bar and return which of `offered`, by act, was chosen in its menu.

    `undo` and `redo` say what they would take back or bring again; None: there is nothing. Ctrl+Z and Ctrl+Shift+Z
    press buttons that nobody sees; in a field that holds what was typed, the keys are the field's
    (ui/streamlit_patches/browser_fixes.py). `beside` draws what stands between the title and the menu.
    Keys: `bar.menu`, `bar.undo`, `bar.redo`.
    """
    labels = {
        act: f"{name}: {plain_label(what, _LONGEST)}"
        for act, name, what in ((UNDO, "Undo", undo), (REDO, "Redo", redo))
        if what is not None
    } | dict(offered)
    handlers = {UNDO: on_undo, REDO: on_redo}

    def chosen() -> None:
        handler = handlers.get(st.session_state[_MENU])
        if handler is not None:
            handler()

    with st.container(key="bar", horizontal=True, vertical_alignment="center"):
        st.title(plain_label(title) or "New chat", anchor=False, width="stretch")
        beside()
        with st.container(key="bar-keys"):
            button("Undo", "bar.undo", on_undo, shortcut="Ctrl+Z", disabled=undo is None)
            button("Redo", "bar.redo", on_redo, shortcut="Ctrl+Shift+Z", disabled=redo is None)
        if not labels:
            return None
        act = st.menu_button(
            "Menu",
            list(labels),
            key=_MENU,
            icon=":material/more_horiz:",
            type="tertiary",
            format_func=labels.__getitem__,
            help="What can be done here",
            on_click=chosen,
        )
    return act if act in offered else None
