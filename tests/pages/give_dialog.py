"""What the dialog that gives something away holds, as a script: AppTest closes a dialog with every run."""

from __future__ import annotations

import streamlit as st

from pages.ui.components.giving import draw_giving
from pages.ui.workspace import workspace

opened = workspace()
draw_giving(
    opened, opened.conversation(st.session_state["id"]), st.session_state["thing"], st.session_state["which"]
)
