"""The bar at the top of a page: where one is, and undo and redo, which every page has (law 5)."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.ui.components.markdown import plain_label


def title_bar(
    title: str,
    *,
    undo: str | None,
    redo: str | None,
    on_undo: Callable[[], None],
    on_redo: Callable[[], None],
    on_search: Callable[[], None],
    beside: Callable[[], None],
    renames: bool = False,
) -> bool:
    """`undo` and `redo` say what they would take back or bring again; None switches the button off.

    `renames` makes the title itself a button; whether it was pressed. Ctrl+Z and Ctrl+Shift+Z press the others; in a
    field that holds what was typed, they are the field's (ui/streamlit_patches/browser_fixes.py). `beside` draws what
    stands at the end of the line. Keys: `bar.title`, `bar.undo`, `bar.redo`, `bar.search`.
    """
    with st.container(key="bar", horizontal=True, vertical_alignment="center"):
        name, pressed = plain_label(title) or "Untitled", False
        if renames:
            with st.container(key="bar-name"):
                hint = "Rename the conversation"
                pressed = st.button(name, key="bar.title", type="tertiary", width="stretch", help=hint)
        else:
            st.subheader(name, anchor=False, width="stretch")
        _button("Undo", "Ctrl+Z", undo, on_undo)
        _button("Redo", "Ctrl+Shift+Z", redo, on_redo)
        st.button(
            "Search",
            key="bar.search",
            icon=":material/search:",
            type="tertiary",
            help="Search every branch of every conversation",
            on_click=on_search,
        )
        beside()
    return pressed


def _button(label: str, shortcut: str, what: str | None, on_click: Callable[[], None]) -> None:
    name = label.lower()
    st.button(
        label,
        key=f"bar.{name}",
        icon=f":material/{name}:",
        type="tertiary",
        shortcut=shortcut,
        disabled=what is None,
        help=f"{label}: {plain_label(what)}" if what else f"Nothing to {name}",
        on_click=on_click,
    )
