"""Where this tab is on the Experiments page: which experiment, and what is to be opened in the next run."""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.conversation import Conversation
from pages.ui.frame import place

_WANTED = "experiments.wanted"


def show(chat: Conversation, name: str | None) -> None:
    """In a handler: have the URL name this experiment; None: none."""
    st.query_params.from_dict(place(chat) | ({"e": name} if name is not None else {}))


def want(what: object) -> None:
    """Have the next run of the page open this (dialogs.py)."""
    st.session_state[_WANTED] = what


def wanted() -> bool:
    """Whether something is to be opened."""
    return _WANTED in st.session_state


def taken_wanted() -> object:
    """What is to be opened, once; None for nothing."""
    return st.session_state.pop(_WANTED, None)
