"""The log of a conversation's threads, below that of its operations: who did what, without what was written."""

from __future__ import annotations

from html import escape

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.views.captions import opening_of
from forky_core.views.shelf import count
from forky_core.views.times import ago, stamp
from pages.ui.components.markdown import showable
from pages.ui.frame import Frame
from pages.ui.person import viewer

_SAID = {
    "began": "began a thread on",
    "replied": "replied in a thread on",
    "edited": "changed a comment on",
    "deleted": "deleted a comment on",
    "undeleted": "brought a comment back on",
    "resolved": "resolved a thread on",
    "reopened": "reopened a thread on",
}
_SHOWN = 200
"""Events that are listed, the newest of them."""


def draw_thread_log(frame: Frame) -> None:
    """Draw nothing where there were no threads. Keys: `history.threads`."""
    who = viewer()
    events = () if who.alone else who.threads(frame.chat.id).events()
    if not events:
        return
    messages, moment = frame.chat.visible.messages, now()
    with st.expander(
        f"Threads: {count(len(events), 'event')}", icon=":material/forum:", key="history.threads"
    ):
        st.caption("Undo and restore leave threads as they are.")
        lines = "".join(
            f'<li><time title="{escape(stamp(one.at))}">{escape(ago(one.at, moment))}</time> '
            f"<b>{escape(showable(who.name_of(one.person)))}</b> {_SAID[one.event]} "
            f"“{escape(showable(opening_of(messages.get(one.message), frame.chat.people.author_of) or 'a message out of sight'))}”</li>"
            for one in reversed(events[-_SHOWN:])
        )
        st.html(f'<ul class="fk-thread-log">{lines}</ul>')
