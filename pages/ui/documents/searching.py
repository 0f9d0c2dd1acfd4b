"""The search box: passages with their scores, as an answer would be offered them; other branches below."""

from __future__ import annotations

from html import escape

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.documents.shelf import DocumentShelf
from forky_core.store.words import search_words, snippet
from pages.ui.components.links import chat_link
from pages.ui.components.markdown import plain_label, showable
from pages.ui.documents.reading import document_link

_MOST = 10
_ELSEWHERE = 5


def draw_search(forky: Workspace, chat: Conversation | None, store: DocumentShelf) -> bool:
    """Key: `documents.search`. Whether something is searched for."""
    words = st.text_input(
        "Search",
        key="documents.search",
        type="search",
        placeholder="Search: a question, or a few words",
        label_visibility="collapsed",
        live=True,
    )
    if not (words or "").strip():
        return False
    asked = str(words)[:400]
    findings = store.look(asked, _MOST)
    if findings.trouble:
        st.caption(plain_label(findings.trouble, 400))
    if not findings.found:
        st.caption("Not found in the documents.")
    marked = search_words(asked)
    for number, one in enumerate(findings.found, 1):
        with st.container(key=f"found-at-{number}"):
            covers = f", holds {one.coverage:.0%} of the words" if one.coverage else ", found by its meaning"
            st.html(f'<p class="doc-found">{escape(showable(snippet(one.excerpt, marked)))}</p>')
            document_link(
                plain_label(f"{one.source} · score {one.score:.2f}{covers}", 200),
                one.document.id,
                one.chunk.number,
            )
    _draw_elsewhere(forky, chat, asked)
    return True


def _draw_elsewhere(forky: Workspace, chat: Conversation | None, asked: str) -> None:
    """Messages of the conversation that was shown last."""
    hits = forky.search(asked, conversation=chat.id, limit=_ELSEWHERE) if chat is not None else ()
    if chat is None or not hits:
        return
    st.markdown("## In this conversation")
    for number, hit in enumerate(hits):
        with st.container(key=f"found-at-message-{number}"):
            st.html(f'<p class="doc-found">{escape(showable(hit.snippet))}</p>')
            chat_link("Open", chat.id, None, hit.message)
