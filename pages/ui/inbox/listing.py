"""The lines of the Inbox: what happened, a few words of it, and the way there, which marks it as read."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from urllib.parse import parse_qsl, urlsplit

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.views.times import ago, stamp
from pages.ui.components.bell import OPENED
from pages.ui.components.buttons import quiet_button
from pages.ui.components.markdown import plain_label, showable
from pages.ui.components.palette import palette
from pages.ui.person import Notice, Viewer
from pages.ui.session import session

_ICONS = {
    "mention": "alternate_email",
    "reply": "forum",
    "thread": "forum",
    "review": "rate_review",
    "comment": "comment",
    "approved": "check_circle",
    "changes": "edit_note",
    "withdrawn": "undo",
    "landed": "merge",
    "declined": "block",
    "shared": "group_add",
    "handed over": "key",
    "role": "badge",
    "added": "person_add",
}
_PAGES = {"/": "chat.py", "/merge": "merge.py", "/people": "people.py"}
_CSS = """
<style>
.st-key-inbox-lines [class*="st-key-row-"] { flex-wrap: nowrap !important; align-items: flex-start; padding: .5rem .1rem; }
.st-key-inbox-lines [class*="st-key-row-"] > :nth-child(2) { flex: 1 1 auto; min-width: 0; }
.st-key-inbox-lines .stButton button[kind="tertiary"] { padding: 0; min-height: 1.6rem; text-align: start; justify-content: flex-start; }
.st-key-inbox-lines [class*="st-key-row-unread"] .stButton button p { font-weight: 620; }
.fk-unread { width: .55rem; height: .55rem; margin-top: .55rem; border-radius: 50%; background: ACCENT; }
.fk-unread.fk-read { background: transparent; }
.fk-notice-words { font-size: .88rem; opacity: .78; overflow-wrap: anywhere; unicode-bidi: plaintext; }
.fk-notice-when { font-size: .8rem; opacity: .74; white-space: nowrap; line-height: 1.6rem; font-variant-numeric: tabular-nums; }
@media (max-width: 640px) { .st-key-inbox-lines [class*="st-key-inbox-mark-"] p { font-size: 0; } }
</style>
"""


def draw_notices(who: Viewer, notices: Sequence[Notice]) -> None:
    """Keys: `inbox.open.<number>`, `inbox.mark.<number>`."""
    st.html(_CSS.replace("ACCENT", palette().accent))
    with st.container(key="inbox-lines", gap=None):
        for notice in notices:
            _draw_notice(who, notice)


def _draw_notice(who: Viewer, notice: Notice) -> None:
    state = "read" if notice.read else "unread"
    with st.container(key=f"row-{state}-{notice.number}", horizontal=True):
        seen = " fk-read" if notice.read else ""
        st.html(f'<div class="fk-unread{seen}" aria-hidden="true"></div>', width="content")
        with st.container(gap=None):
            if quiet_button(
                plain_label(notice.sentence, 300),
                f"inbox.open.{notice.number}",
                icon=_ICONS[notice.kind],
                help="Go there",
            ):
                _open(notice)
            if notice.quote:
                st.html(f'<div class="fk-notice-words">{escape(showable(notice.quote))}</div>')
        st.html(
            f'<time class="fk-notice-when" title="{escape(stamp(notice.at))}">{escape(ago(notice.at, now()))}</time>',
            width="content",
        )
        label = "Mark as not read" if notice.read else "Mark as read"
        quiet_button(
            label,
            f"inbox.mark.{notice.number}",
            who.inbox.mark,
            who.id,
            notice.number,
            icon="mark_email_unread" if notice.read else "done",
            help=label,
            kwargs={"read": not notice.read},
        )


def _open(notice: Notice) -> None:
    """Go there. It is marked as read when that page is drawn (bell.py): word of it would call this page back."""
    session().choices[OPENED] = str(notice.number)
    place = urlsplit(notice.address)
    st.switch_page(_PAGES[place.path], query_params=dict(parse_qsl(place.query)))
