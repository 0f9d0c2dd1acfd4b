"""The part of the Library about sharing: the links, and on a team's server what the reader shares or was given."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.conversation.workspace import Workspace
from forky_core.people.links.link import Link
from forky_core.views.shelf import shelf
from pages.ui.library.shelving import draw_lines
from pages.ui.links.listing import FRESH, draw_links, draw_links_that_are_over, made_by_me
from pages.ui.person import Whose, viewer
from pages.ui.session import TabSession
from pages.ui.workspace import links_of

_SHOWN = 20
"""The most conversations of a list; a caption says where the others are."""


def open_links(forky: Workspace) -> int:
    """Return the number of open links that the reader can see."""
    at = now()
    return sum(link.is_open(at) for link in links_of(forky).all())


def draw_shared(forky: Workspace, tab: TabSession) -> None:
    """Keys: `library.link.revoke.<id>`, `library.others.revoke.<id>`, and those of `draw_lines`."""
    if isinstance(refused := st.session_state.get(FRESH), str):
        st.error(refused, icon=":material/error:")
        del st.session_state[FRESH]
    listed = links_of(forky).all()
    mine = [link for link in listed if made_by_me(link, tab.person)]
    others = [link for link in listed if not made_by_me(link, tab.person)]
    st.markdown("## Your links")
    _draw_mine(forky, mine)
    if any(link.is_open(now()) for link in others):
        st.markdown("## Links of others")
        st.caption("To conversations that you see. Their editors may revoke them.")
        draw_links(forky, others, key="library.others")
    if not viewer().alone:
        _draw_conversations(
            forky, tab, "with_me", "Shared with you", "Nobody has shared anything with you yet."
        )
        _draw_conversations(forky, tab, "by_me", "Shared by you", "You have shared no conversation yet.")


def _draw_mine(forky: Workspace, mine: Sequence[Link]) -> None:
    if not any(link.is_open(now()) for link in mine):
        st.caption(
            "No link of yours is open. Make one: “Export or share” beside a conversation, “Share” on other pages, "
            "or V while you present."
        )
    draw_links(forky, mine, key="library.link")
    draw_links_that_are_over(mine)


def _draw_conversations(forky: Workspace, tab: TabSession, whose: Whose, title: str, nothing: str) -> None:
    found = viewer().listed(forky.conversations(), whose)
    st.markdown(f"## {title}")
    if not found:
        st.caption(nothing)
        return
    draw_lines(forky, tab, shelf(found[:_SHOWN], now=now()), key=f"library-lines-{whose}")
    if len(found) > _SHOWN:
        st.caption(f"{len(found) - _SHOWN} more: choose “{title}” above the list of conversations.")
