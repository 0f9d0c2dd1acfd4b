"""A page that fails: a sentence and an incident number for the person, the trace under that number for the log."""

from __future__ import annotations

import secrets

import streamlit as st

from forky_core.process import events
from pages.ui.session import shown_page


def show_incident(error: Exception) -> bool:
    """Streamlit calls it for an error that nobody caught; True: it shows nothing of its own, which may quote a text."""
    incident = log_page_failure(error)
    with st.container(key=f"page-failed-{incident}"):
        st.error(
            f"Something went wrong on this page. What was said is kept. Reload the page; if it happens again, tell "
            f"whoever runs this Forky: its log has the reason under **{incident}**.",
            icon=":material/error:",
        )
    return True


def log_page_failure(error: Exception) -> str:
    """The number under which the log has it."""
    incident = secrets.token_hex(4)
    conversation = st.query_params.get("c")
    events.page_failed(incident=incident, page=shown_page(), fault=error, conversation=conversation)
    return incident
