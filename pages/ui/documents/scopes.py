"""Whose documents are looked at: the workspace's, those of the conversation shown last, its branch's, or the trash."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.documents.shelf import DocumentShelf
from forky_core.views.shelf import title_or_placeholder
from pages.ui.components.choices import choose_one
from pages.ui.components.markdown import plain_label
from pages.ui.components.only_reading import may_write, why_not_edits
from pages.ui.person import viewer

SCOPES: Mapping[str, str] = MappingProxyType(
    {
        "workspace": "Every conversation may use these, where its branch answers from documents.",
        "conversation": "Only this conversation uses these, on all of its branches. Undo takes a change back.",
        "branch": "Only this branch and those that start from it use these. Undo takes a change back.",
    }
)


def draw_scope(chat: Conversation | None, trashed: int) -> str:
    """Key: `documents.scope`."""
    labels = {"workspace": "Workspace"}
    if chat is not None:
        labels["conversation"] = plain_label(f"“{title_or_placeholder(chat.title)}”", 40)
        labels["branch"] = plain_label(f"Branch “{chat.branch_name}”", 40)
    if trashed or st.session_state.get("documents.scope") == "trash":
        labels["trash"] = f"Trash ({trashed})"
    return choose_one("Whose documents", labels, "documents.scope")


def why_not_given(scope: str, chat: Conversation | None) -> str:
    """Why the reader can give no documents here and take none away, as a sentence; "" if they can."""
    if scope == "branch" and chat is not None:
        return "" if may_write(chat, chat.branch_name) else why_not_edits(chat)
    if scope == "conversation" and chat is not None:
        return why_not_edits(chat)
    return viewer().why_not("offer", "offer documents to everybody")


def store_of(scope: str, forky: Workspace, chat: Conversation | None) -> DocumentShelf:
    if chat is None or scope == "workspace":
        return forky.documents
    return chat.documents.of_conversation if scope == "conversation" else chat.documents
