"""What the dialog that changes a workspace holds, as a script: AppTest closes a dialog with every run."""

from __future__ import annotations

import streamlit as st

from pages.ui.people.workspaces import desk_of, draw_change
from pages.ui.session import session
from pages.ui.workspace import reader

who = reader()
assert who is not None
desk = desk_of(who)
assert desk is not None
for workspace, role in desk.mine:
    if workspace.id == st.query_params["w"]:
        draw_change(who, desk, session(), workspace, role)
