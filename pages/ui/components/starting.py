"""How a conversation begins: at once, or with the dialog of the Library, where one can say more than it needs."""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.workspace import Workspace
from pages.ui.components.buttons import submit_button
from pages.ui.components.models import choose_model, known_model, model_title
from pages.ui.frame import go, open_chat, saying
from pages.ui.keeping.fields import kept_fields
from pages.ui.person import viewer
from pages.ui.session import TabSession


def begin_conversation(forky: Workspace, tab: TabSession) -> None:
    """In a handler: an empty conversation, the one that is there already where nothing was said in it."""
    with saying(tab):
        newest = max(
            viewer().listed(forky.conversations(), "mine"), key=lambda one: one.created, default=None
        )
        if newest is not None and not newest.messages and newest.branches:
            tab.say("Nothing has been said in this new chat yet.")
            open_chat(forky.conversation(newest.id))
        else:
            open_chat(forky.create())


@st.dialog("New chat", icon=":material/add_comment:")
def new_conversation(forky: Workspace, tab: TabSession) -> None:
    """Keys: `new.title`, `new.model`, `new.system`, `new.create`."""
    default = forky.models.default()
    usual = f"Default: {model_title(known_model(forky.models, default), default)}"
    with kept_fields("new conversation"), st.form("new", border=False):
        st.text_input("Title", key="new.title", max_chars=200, placeholder="Taken from the first question")
        choose_model(forky.models, "Model", "new.model", none=usual)
        st.text_area(
            "System prompt",
            key="new.system",
            height=100,
            placeholder="What the model should know or how it should answer (optional)",
        )
        if submit_button("Create", "new.create", _create, forky, tab):
            st.rerun()


def _create(forky: Workspace, tab: TabSession) -> None:
    """The address leads to the new conversation; a page that shows none sends it on (ui/components/links.py)."""
    with saying(tab):
        go(
            forky.create(
                st.session_state["new.title"] or "",
                system=(st.session_state["new.system"] or "").strip() or None,
                model=st.session_state["new.model"] or None,
            )
        )
