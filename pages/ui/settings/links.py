"""The part of Settings about links: all that the reader can see, with buttons that revoke them."""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.workspace import Workspace
from pages.ui.links.listing import draw_links, draw_links_that_are_over
from pages.ui.workspace import links_of


def draw_links_of_server(forky: Workspace) -> None:
    """Draw the links, or nothing if there never was one. Keys: `settings.link.revoke.<id>`."""
    listed = links_of(forky).all()
    if not listed:
        return
    st.markdown("## Links")
    st.caption("Each can be read by whoever has its address, until it expires or is revoked.")
    draw_links(forky, listed, key="settings.link")
    draw_links_that_are_over(listed)
