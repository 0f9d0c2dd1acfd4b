"""The bar at the top of a page: where one is, and undo and redo, which every page has (law 5)."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.ui.markdown import plain_label


def title_bar(
    title: str,
    *,
    undo: str | None,
    redo: str | None,
    on_undo: Callable[[], None],
    on_redo: Callable[[], None],
    on_search: Callable[[], None],
    renames: bool = False,
) -> bool:
    """`undo` and `redo` say what they would take back or bring again; None switches the button off.

    `renames` makes the title itself a button; whether it was pressed. Ctrl+Z, Ctrl+Shift+Z and Ctrl+K
    press the others where no field has the focus. Keys: `bar.title`, `bar.undo`, `bar.redo`, `bar.search`.
    """
    with st.container(key="bar", horizontal=True, vertical_alignment="center"):
        pressed = False
        if not renames:
            st.subheader(plain_label(title) or "Untitled", anchor=False, width="stretch")
        else:
            with st.container(key="bar-name"):
                pressed = st.button(
                    plain_label(title) or "Untitled",
                    key="bar.title",
                    type="tertiary",
                    width="stretch",
                    help="Rename the conversation",
                )
        st.button(
            "Undo",
            key="bar.undo",
            icon=":material/undo:",
            type="tertiary",
            shortcut="Ctrl+Z",
            disabled=undo is None,
            help=f"Undo: {plain_label(undo)}" if undo else "Nothing to undo",
            on_click=on_undo,
        )
        st.button(
            "Redo",
            key="bar.redo",
            icon=":material/redo:",
            type="tertiary",
            shortcut="Ctrl+Shift+Z",
            disabled=redo is None,
            help=f"Redo: {plain_label(redo)}" if redo else "Nothing to redo",
            on_click=on_redo,
        )
        st.button(
            "Search",
            key="bar.search",
            icon=":material/search:",
            type="tertiary",
            shortcut="Ctrl+K",
            help="Search every branch of every conversation",
            on_click=on_search,
        )
    return pressed
