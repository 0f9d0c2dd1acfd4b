"""Everything that is one's own, to take away (forky_core/gateway/person_export.py)."""

from __future__ import annotations

from functools import partial

import streamlit as st

from forky_core.gateway.downloading import Download
from forky_core.gateway.person_export import person_archive
from pages.ui.components.downloads import download_link
from pages.ui.person import Administration
from pages.ui.workspace import whole_workspace


def draw_mine(people: Administration) -> None:
    """Keys: `people.mine`."""
    me = people.me
    st.markdown("## Everything that is mine")
    st.caption(
        "Your profile, browsers, roles and tokens, your conversations as Forky files with their attachments, what you said "
        "in those of others, what the audit log says of you, and what your questions cost: one zip with a page that "
        "explains it. No password and no key is in it."
    )
    pieces = partial(person_archive, whole_workspace(), people.team, me, by=me.id)
    with st.container(key="line-me-mine", horizontal=True):
        download_link(
            Download(f"forky-{me.handle}.zip", "application/zip", pieces),
            key="people.mine",
            label="Download all of it",
            main=False,
        )
