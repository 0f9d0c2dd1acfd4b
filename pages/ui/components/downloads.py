"""A button that leads to a file which is made while the browser takes it (forky_core/gateway/downloading.py)."""

from __future__ import annotations

import streamlit as st

from forky_core.gateway.downloading import Download, Offers

offers = Offers()
"""Of all sessions. The front door answers from it."""


def download_link(offer: Download, *, key: str) -> None:
    """Draw it. What it offered in the run before, in this session and under this key, is offered no more."""
    st.session_state[f"{key}.offer"] = offer
    st.link_button("Download", offers.address(offer), key=key, type="primary", icon=":material/download:")
