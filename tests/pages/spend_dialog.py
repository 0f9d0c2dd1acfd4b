"""What the dialogs about spending hold, as a script: AppTest closes a dialog with every run."""

from __future__ import annotations

import streamlit as st

from forky_core.team.spending.spending_desk import SpendingDesk
from pages.ui.people.spending_dialogs import draw_account_form, draw_everybodys_form
from pages.ui.session import session
from pages.ui.workspace import reader

who = reader()
assert who is not None
desk = SpendingDesk(who.team, who.access)
if handle := st.query_params.get("handle"):
    draw_account_form(desk, session(), next(one for one in desk.accounts() if one.member.handle == handle))
else:
    draw_everybodys_form(desk, session())
