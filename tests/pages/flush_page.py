"""A page that draws, flushes, and works then, holding the interpreter as a page of Forky does.

It waits for longer than Forky's do, so that a busy machine can be told from a page that does not flush.
"""

from __future__ import annotations

import time

import streamlit as st

from pages.ui.streamlit_patches import flush

vars(flush)["SECONDS"] = 0.2
st.text("first")
flush.flush()
begun = time.monotonic()
while time.monotonic() < begun + 0.1:
    pass
st.text(f"went on at {begun}")
