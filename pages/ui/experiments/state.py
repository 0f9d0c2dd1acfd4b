"""The state of the Experiments page in this tab: which experiment it shows, and which dialog the next run opens."""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.conversation import Conversation
from pages.ui.frame import place

_WANTED = "experiments.wanted"


def show(chat: Conversation, name: str | None) -> None:
    """Put this experiment into the URL, or remove it if `name` is None. Call it in a handler."""
    st.query_params.from_dict(place(chat) | ({"e": name} if name is not None else {}))


def want(what: object) -> None:
    """Have the next run of the page open a dialog (dialogs.py says which)."""
    st.session_state[_WANTED] = what


def wanted() -> bool:
    """Whether a dialog is to be opened."""
    return _WANTED in st.session_state


def pop_wanted() -> object:
    """Return what is to be opened and forget it; None for nothing."""
    return st.session_state.pop(_WANTED, None)
