"""What the dialog that makes a link to a conversation holds, as a script: AppTest closes a dialog with every run."""

from __future__ import annotations

import streamlit as st

from pages.ui.library.sharing import draw_share
from pages.ui.workspace import workspace

opened = workspace()
draw_share(opened, opened.conversation(st.session_state["id"]))
