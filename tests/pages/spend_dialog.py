"""What the dialog about an allowance holds, as a script: AppTest closes a dialog with every run."""

from __future__ import annotations

import streamlit as st

from pages.ui.people.spending import draw_form
from pages.ui.person import viewer
from pages.ui.session import session
from pages.ui.workspace import workspace

desk = viewer().spending(workspace().book)
handle = st.query_params.get("handle")
draw_form(desk, session(), next((one for one in desk.everybodys() if one.member.handle == handle), None))
