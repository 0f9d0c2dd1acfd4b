"""What the page of a team says about parts of Forky that are gone, where they were in use."""

from __future__ import annotations

import streamlit as st

from pages.ui.components.markdown import plain_label
from pages.ui.person import viewer


def draw_no_longer_used() -> None:
    """Draws nothing on the server of one person, and where nothing that is gone was in use."""
    for sentence in viewer().no_longer_used():
        st.info(plain_label(sentence, 400), icon=":material/info:")
