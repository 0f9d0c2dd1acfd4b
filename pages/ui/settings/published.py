"""The part of Settings about pages that were published at an address: all of this server, to look at and to revoke."""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.conversation.workspace import Workspace
from forky_core.publishing.published_pages import PublishedPages
from pages.ui.components.published import draw_published


def draw_published_pages(forky: Workspace) -> None:
    """Keys: `settings.published.revoke.<id>`. Nothing is drawn where nothing was ever published."""
    pages = PublishedPages(forky.store)
    listed = pages.all()
    if not listed:
        return
    st.markdown("#### Published pages")
    st.caption("Each can be read by whoever has its address, until it expires or you revoke it.")
    draw_published(pages, listed, key="settings.published")
    over = sum(not page.is_open(now()) for page in listed)
    if over:
        st.caption(f"{over} more expired or were revoked.")
