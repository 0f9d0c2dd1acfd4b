"""Search over every branch of every conversation; the results, by conversation, each link to a message."""

from __future__ import annotations

import html

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.conversation.visible import Visible
from forky_core.conversation.workspace import Workspace
from forky_core.model import ConversationId, View
from forky_core.views.findings import LONGEST_QUERY, FoundConversation, FoundMessage, MarkedText, group_hits
from forky_core.views.shelf import count, title_or_placeholder
from forky_core.views.times import ago
from pages.ui.components.buttons import quiet_button
from pages.ui.components.links import chat_link
from pages.ui.components.markdown import plain_label, showable

HITS = 30
"""How many messages are drawn at first; each press of “Show more” adds as many."""
_WHO = {"user": "you", "assistant": "model", "system": "system prompt", "tool": "tool"}
_NAMED = 3
"""How many branches a hit names."""


def draw_findings(forky: Workspace, words: str) -> bool:
    """Draw the results, and return whether anything was found. Keys: `search.more`."""
    wanted = words[:LONGEST_QUERY]
    limit = int(st.session_state.setdefault("search.limit", HITS))
    hits = forky.search(wanted, limit=limit + 1)
    groups = group_hits(hits[:limit], wanted, lambda id: _look(forky, id))
    if not hits:
        st.caption(
            "No message holds all of these words. A “phrase in double quotes” is looked for as it stands."
        )
        return False
    more = "The best " if len(hits) > limit else ""
    messages = count(min(len(hits), limit), "message")
    st.caption(f"{more}{messages} in {count(len(groups), 'conversation')}")
    for group in groups:
        _draw_group(group)
    if len(hits) > limit:
        quiet_button("Show more", "search.more", _show_more)
    return True


def _show_more() -> None:
    st.session_state["search.limit"] += HITS


def _look(forky: Workspace, id: ConversationId) -> tuple[View, Visible]:
    chat = forky.conversation(id)
    return chat.view, chat.visible


def _draw_group(group: FoundConversation) -> None:
    with st.container(key=f"found-group-{group.id}", gap=None):
        st.markdown(f"**{plain_label(title_or_placeholder(group.title))}**")
        for message in group.messages:
            _draw_message(group.id, message)


def _draw_message(id: ConversationId, message: FoundMessage) -> None:
    hit = message.hit
    with st.container(key=f"found-at-{id}-{hit.message.removeprefix('b2:')}", gap=None):
        st.html(f'<div class="found-snippet" dir="auto">{marked_html(message.pieces)}</div>')
        where = ", ".join(message.branches[:_NAMED]) or "not on a branch"
        if len(message.branches) > _NAMED:
            where += f" and {len(message.branches) - _NAMED} more"
        who = "merge" if message.merges else _WHO[hit.role]
        line = f"{who} · {where} · {ago(hit.created, now())}"
        chat_link(line, id, message.landing, hit.message)


def marked_html(pieces: tuple[MarkedText, ...]) -> str:
    """Return the pieces as HTML, in which only our own `<mark>` is markup."""
    return "".join(
        f"<mark>{_escaped(piece.text)}</mark>" if piece.marked else _escaped(piece.text) for piece in pieces
    )


def _escaped(text: str) -> str:
    return html.escape(showable(text))


def has_words(words: str) -> bool:
    return bool(words.strip(' \t\n"'))
