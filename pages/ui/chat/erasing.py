"""The dialog by which somebody erases what a message says: what it takes, and a word that has to be typed."""

from __future__ import annotations

import streamlit as st

from forky_core.model import MessageId
from forky_core.model.errors import ForkyError
from forky_core.views.erasing import described
from pages.ui.components.buttons import button, main_button
from pages.ui.components.markdown import plain_label
from pages.ui.frame import Frame, go, saying
from pages.ui.person import viewer
from pages.ui.session import stop_acting


@st.dialog("Erase what it says", icon=":material/ink_eraser:", on_dismiss=stop_acting)
def confirm_erasure(here: Frame, id: MessageId) -> None:
    """Keys: `erase.typed`, `erase.go`, `erase.cancel`."""
    if why := _why_not(here, id):
        st.markdown(plain_label(why, 400))
        return
    try:
        plan = here.chat.history.plan_erasure(id)
    except ForkyError as error:
        st.markdown(plain_label(str(error), 400))
        return
    st.markdown(plain_label(described(plan), 900))
    st.text_input(
        f"Type {plan.confirmation} to erase it for good", key="erase.typed", max_chars=40, autocomplete="off"
    )
    with st.container(horizontal=True):
        main_button("Erase for good", "erase.go", _erase, here, id)
        if button("Cancel", "erase.cancel", stop_acting):
            st.rerun()


def _why_not(here: Frame, id: MessageId) -> str:
    """Why the reader cannot erase a message, as a sentence; "" if they can, or may be able to."""
    who = viewer()
    if who.may("own", here.chat.id) or here.chat.people.author_of(id) == "You":
        return ""
    again = here.forky.store.erased_of(here.chat.id, [id]) if who.may("edit", here.chat.id) else ()
    return "" if again else "Whoever said it can erase it, and whoever the conversation belongs to."


def _erase(here: Frame, id: MessageId) -> None:
    here.session.acting = None
    with saying(here.session):
        here.chat.history.erase(id, confirm=str(st.session_state.get("erase.typed") or ""))
        here.session.say("It is erased. Backups and exported files keep it.")
        go(here.chat)
