"""Turns as a person reads them: an id opens its message in Chat, a number in an answer's words the passage it cites."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from urllib.parse import urlencode

import streamlit as st

from forky_core.conversation.session import short
from forky_core.model import ConversationId, MessageId
from forky_core.views.payload import text_rows
from pages.ui.components.links import chat_place, passage_link
from pages.ui.components.markdown import showable

SHOWN = 60_000
"""Characters of a payload that are drawn."""
_TURNS = frozenset({"user:", "assistant:", "system:", "tool:"})
"""Lines that say whose turn follows."""
Home = Callable[[MessageId], tuple[ConversationId, str | None]]
"""Where a message is to be seen: its conversation, and a branch where one is known. Of an address of a passage, the
conversation that knows it."""


def draw_turns(text: str, home: Home) -> None:
    """Turns as they were said, with what they cite; whose turn it is stands out."""
    drawn = "\n".join(
        f"<b>{escape(row.text)}</b>"
        if row.text in _TURNS
        else row.drawn(
            _words, lambda id: opener(home, id), lambda number, address: _passage(number, address, home)
        )
        for row in text_rows(text, SHOWN)
    )
    st.html(f'<pre class="fk-payload" tabindex="0">{drawn}</pre>')
    if len(text) > SHOWN:
        st.caption(f"and {len(text) - SHOWN:,} characters more")


def _words(text: str) -> str:
    return escape(showable(text))


def _passage(number: str, address: str, home: Home) -> str:
    return passage_link(home(MessageId(address))[0], number, address, beside=True)


def opener(home: Home, id: MessageId, shown: str = "", label: str = "") -> str:
    """HTML of a link in a tab of its own: what was chosen and written on this page stays. `label` makes it a number."""
    conversation, branch = home(id)
    place = escape(urlencode(chat_place(conversation, branch, id)))
    told = escape(label or f"Show {short(id)} in its branch")
    kind = ' class="fk-ref"' if label else ""
    return (
        f'<a href="./?{place}"{kind} target="_blank" rel="noopener" title="{told}" aria-label="{told}">'
        f"{escape(shown or short(id))}</a>"
    )
