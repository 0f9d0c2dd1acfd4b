"""A page that nobody ships, as somebody's package would bring it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.ui.page import Page

WEATHER = Page(
    title="Weather",
    icon="partly_cloudy_day",
    order=45,
    script=Path(__file__),
)
NO_SCRIPT = Page(title="Nothing", icon="merge", order=1)
NO_ADDRESS = Page(title="Odd", icon="merge", order=1, url="v1/models", script=Path(__file__))
SECOND_LIBRARY = Page(title="Library", icon="merge", order=1, url="library", script=Path(__file__))

if __name__ == "__main__":
    st.markdown("It will rain.")
