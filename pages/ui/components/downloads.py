"""A button that leads to a file which is made while the browser takes it (forky_core/gateway/downloading.py)."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import streamlit as st

from forky_core.gateway.downloading import Download, Offers
from pages.ui.workspace import reader_id

offers = Offers()
"""Of all sessions. The front door answers from it."""


def download_link(offer: Download, *, key: str, label: str = "Download", main: bool = True) -> None:
    """Draw it, for whoever looks at this page. What it offered in the run before, in this session and under this key,
    is offered no more. `main`: it is what its place is for.
    """
    offer = replace(offer, person=reader_id())
    st.session_state[f"{key}.offer"] = offer
    kind: Literal["primary", "secondary"] = "primary" if main else "secondary"
    st.link_button(label, f"{offers.address(offer)}", key=key, type=kind, icon=":material/download:")
