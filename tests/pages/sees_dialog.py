"""What the dialog about who sees a conversation holds, as a script: AppTest closes a dialog with every run."""

from __future__ import annotations

import streamlit as st

from pages.ui.people.who_sees import draw_who_sees
from pages.ui.person import viewer
from pages.ui.session import session
from pages.ui.workspace import workspace

if "chat" not in st.session_state:
    st.session_state["chat"] = workspace().conversation(st.query_params["c"])
draw_who_sees(viewer(), session(), st.session_state["chat"])
