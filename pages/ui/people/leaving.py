"""The dialog by which somebody ends their own membership."""

from __future__ import annotations

import streamlit as st

from pages.ui.components.choices import confirm
from pages.ui.frame import saying
from pages.ui.person import Administration
from pages.ui.session import TabSession


@st.dialog("Leave this workspace", icon=":material/door_open:")
def leave(people: Administration, tab: TabSession) -> None:
    """Keys: `leave.stay`, `leave.yes`."""
    if people.is_last_owner:
        st.markdown("A workspace keeps at least one owner. Make somebody else an owner first.")
        return
    st.caption(
        "You are signed out everywhere and see nothing here any more. What you wrote stays, under your name; hand over "
        "conversations first that others are to look after. An invitation brings you back."
    )
    confirm("Leave", "leave.yes", _go, people, tab, keep=("Stay", "leave.stay"))


def _go(people: Administration, tab: TabSession) -> None:
    with saying(tab):
        people.leave()
