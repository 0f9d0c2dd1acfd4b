"""The list of pages that stand at an address: each is opened by whoever has it, and revoked here."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.model.errors import ForkyError
from forky_core.publishing.published_pages import NewPage, PublishedPage, PublishedPages
from forky_core.views.shelf import count
from forky_core.views.times import stamp
from pages.ui.components.markdown import plain_label

FRESH = "give.fresh"
"""The key of the session state that holds the page that was just published, or a sentence about what went wrong."""


def draw_published(pages: PublishedPages, listed: Sequence[PublishedPage], *, key: str) -> None:
    """The pages that are open, each with a button that revokes it. Keys: `<key>.revoke.<id>`."""
    at = now()
    for page in (one for one in listed if one.is_open(at)):
        with st.container(key=f"row-published-{key}-{page.id}", horizontal=True, vertical_alignment="center"):
            st.markdown(f":material/public: {plain_label(page.title, 90)}", width="stretch")
            seen = f"opened {count(page.opened, 'time')}" if page.opened else "not opened yet"
            until = "in the trash" if pages.is_in_trash(page) else f"until {stamp(page.until)}"
            st.caption(f"{page.thing}, {until}, {seen}", width="content")
            st.button(
                "Revoke",
                key=f"{key}.revoke.{page.id}",
                type="tertiary",
                icon=":material/block:",
                help="Its address leads nowhere from now on",
                on_click=_revoke,
                args=(pages, page.id),
            )


def _revoke(pages: PublishedPages, id: str) -> None:
    fresh = st.session_state.get(FRESH)
    try:
        pages.revoke(id)
    except ForkyError as error:
        st.session_state[FRESH] = str(error)
        return
    if isinstance(fresh, NewPage) and fresh.page.id == id:
        del st.session_state[FRESH]
