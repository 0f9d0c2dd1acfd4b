"""What the dialog about an allowance holds, as a script: AppTest closes a dialog with every run."""

from __future__ import annotations

import streamlit as st

from forky_core.people.allowance_desk import AllowanceDesk
from pages.ui.people.spending import draw_form
from pages.ui.session import session
from pages.ui.workspace import reader, workspace

who = reader()
assert who is not None
desk = AllowanceDesk(who.access, workspace().book)
handle = st.query_params.get("handle")
draw_form(desk, session(), next((one for one in desk.everybodys() if one.member.handle == handle), None))
