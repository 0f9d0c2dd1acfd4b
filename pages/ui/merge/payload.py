"""A payload as a person reads it: each line ends in the ids of its messages, and an id opens its message in Chat."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from urllib.parse import urlencode

import streamlit as st

from forky_core.model import ConversationId, MessageId
from forky_core.parts import MergePart
from forky_core.repo.repo import short
from forky_core.views.payload import payload_rows
from pages.ui.links import chat_place
from pages.ui.markdown import showable

SHOWN = 60_000
"""Characters of a payload that are drawn."""
Home = Callable[[MessageId], tuple[ConversationId, str | None]]
"""Where a message is to be seen: its conversation, and a branch where one is known."""


def draw_cited_payload(merge: MergePart, home: Home) -> None:
    rows = "\n".join(
        row.drawn(lambda text: escape(showable(text)), lambda id: _opener(id, home))
        + "".join(f" {_opener(id, home)}" for id in row.cites)
        for row in payload_rows(merge, SHOWN)
    )
    st.html(f'<pre class="fk-payload" tabindex="0">{rows}</pre>')


def _opener(id: MessageId, home: Home) -> str:
    """A link in a tab of its own: what was chosen and written on this page stays."""
    conversation, branch = home(id)
    place = escape(urlencode(chat_place(conversation, branch, id)))
    mark = short(id)
    return f'<a href="./?{place}" target="_blank" rel="noopener" title="Show {mark} in its branch">{mark}</a>'
