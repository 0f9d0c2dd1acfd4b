"""What can be done with a message beside reading on: start a branch, or bring its branch back. The page that does that
says what each way of it costs.
"""

from __future__ import annotations

from html import escape

import streamlit as st

from forky_core.model import Message, MessageId
from forky_core.views.captions import opening_of
from forky_core.views.graph import line_of_text
from forky_core.views.merging import MergeDirection, default_direction
from forky_core.views.places import branch_for
from pages.ui.chat.branch_owners import branch_facts
from pages.ui.components.markdown import showable
from pages.ui.components.only_reading import why_only_reads
from pages.ui.frame import Frame


def way_of(here: Frame, message: MessageId) -> MergeDirection | None:
    """Which branch would be merged into which."""
    tab, chat = here.session, here.chat
    came_from = tab.card[1] if tab.card is not None and tab.card[0] == message else ""
    return default_direction(message, chat.view, chat.visible, chat.branch_name, came_from)


def draw_card(here: Frame) -> None:
    """The card of the message whose dot was clicked, below the graph. Key: `chat-card` (a container)."""
    card = None if why_only_reads(here.chat) else here.session.card
    if card is not None and card[0] == here.at and here.at in here.chat.visible.messages:
        with st.container(key="chat-card"):
            st.html(_card(here, here.chat.visible.messages[here.at]))


def _card(here: Frame, message: Message) -> str:
    """HTML of it; acts.js hears its buttons."""
    direction = way_of(here, message.id)
    who = (
        "Brought back"
        if message.merges
        else opening_of(message, here.chat.people.author_of).partition(":")[0]
    )
    ways = [_button("fork", "call_split", "Start a branch here")]
    if direction is not None:
        into = f"Bring “{direction.source}” back into “{direction.target}”"
        ways.append(_button("merge", "merge", into))
    ways.append(_button("more", "more_horiz", "More", " aria-haspopup=menu aria-expanded=false"))
    return (
        '<div class="fk-card" role="group" aria-label="What can be done with this message" '
        f'data-id="{escape(message.id)}"><div class="fk-card-top"><span class="fk-who">{escape(showable(who))}</span>'
        f'<span class="fk-words">{escape(showable(line_of_text(message)))}</span>'
        '<button type="button" class="fk-close fk-icon" data-act="card" aria-label="Close this card">close</button>'
        f'</div>{_whose(here, message)}<div class="fk-ways">{"".join(ways)}</div></div>'
    )


def _whose(here: Frame, message: Message) -> str:
    """HTML of whose the branch is that the message is on, where people sign in."""
    facts = branch_facts(here)
    if facts is None:
        return ""
    branch = branch_for(message.id, here.chat.view, here.chat.visible, here.chat.branch_name)
    said = f"On “{branch}”, {facts(branch)}"
    return f'<div class="fk-card-into">{escape(showable(said))}</div>'


def _button(act: str, icon: str, name: str, state: str = "") -> str:
    return (
        f'<button type="button" data-act="{act}"{state}>'
        f'<span class="fk-icon" aria-hidden="true">{icon}</span><span>{escape(showable(name))}</span></button>'
    )
