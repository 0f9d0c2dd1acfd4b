"""What the dialogs about spending hold, as a script: AppTest closes a dialog with every run."""

from __future__ import annotations

import streamlit as st

from forky_core.team.roles import role_named
from forky_core.team.spending.spending_desk import SpendingDesk
from pages.ui.people.spending_dialogs import draw_account_form, draw_everybodys_form, draw_models_form
from pages.ui.session import session
from pages.ui.workspace import reader

who = reader()
assert who is not None
desk = SpendingDesk(who.team, who.access)
if handle := st.query_params.get("handle"):
    draw_account_form(desk, session(), next(one for one in desk.accounts() if one.member.handle == handle))
elif role := st.query_params.get("role"):
    draw_models_form(desk, session(), role_named(role))
else:
    draw_everybodys_form(desk, session())
