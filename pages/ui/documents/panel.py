"""The documents of the workspace, a conversation or a branch: on the page of their own, and beside the chat."""

from __future__ import annotations

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from pages.ui.components.only_reading import draw_refusal
from pages.ui.documents.adding import draw_adding
from pages.ui.documents.listing import draw_list, draw_trash
from pages.ui.documents.meaning import draw_meaning
from pages.ui.documents.scopes import SCOPES, draw_scope, store_of, why_not_given
from pages.ui.documents.searching import draw_search
from pages.ui.documents.style import apply_document_style
from pages.ui.session import TabSession


def draw_documents(forky: Workspace, tab: TabSession, chat: Conversation | None) -> None:
    """Draw the documents of the chosen place, with a search, and a way to add some."""
    apply_document_style()
    trashed = [one for one in forky.store.documents.documents() if one.shelf == "trash"]
    scope = draw_scope(chat, len(trashed))
    if scope == "trash":
        draw_trash(forky, tab, trashed)
        return
    store = store_of(scope, forky, chat)
    st.caption(SCOPES[scope])
    if draw_search(forky, chat, store):
        return
    why_not = why_not_given(scope, chat)
    if not draw_refusal(why_not):
        draw_adding(tab, store)
    draw_list(forky, tab, store, removes=not why_not)
    draw_meaning(forky, tab, store)
