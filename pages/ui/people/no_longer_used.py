"""What the page of a team says about parts of Forky that are gone, where they were in use."""

from __future__ import annotations

import streamlit as st

from forky_core.people.no_longer_used import no_longer_used
from pages.ui.components.markdown import plain_label
from pages.ui.workspace import reader


def draw_no_longer_used() -> None:
    """Draws nothing on the server of one person, and where nothing that is gone was in use."""
    who = reader()
    for sentence in no_longer_used(who.access) if who is not None else ():
        st.info(plain_label(sentence, 400), icon=":material/info:")
