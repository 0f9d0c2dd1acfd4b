"""What a model would be sent here, item by item: on the page of its own, and beside the chat."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from forky_core.conversation.replies.preparing import PreparedRequest
from forky_core.model import Message, MessageId
from forky_core.model.errors import ForkyError
from forky_core.views.context import ContextRow, rows
from pages.ui.components.buttons import quiet_button
from pages.ui.components.choices import choose_one
from pages.ui.components.links import page_link
from pages.ui.components.markdown import plain_label
from pages.ui.components.models import asking
from pages.ui.components.notice import done
from pages.ui.components.only_reading import may_write
from pages.ui.context.facts import draw_facts
from pages.ui.context.items import MOST, draw_items, hear_steering
from pages.ui.context.style import apply_context_style
from pages.ui.drafts import draft_place, drafts
from pages.ui.frame import Frame, place, saying

_SHOWN = "context.shown"


def draw_context_panel(here: Frame) -> None:
    """Beside the chat: what is sent, its switches, and the way to the whole page. Keys: `context.whole`."""
    apply_context_style()
    try:
        made = prepared(here)
    except ForkyError as error:
        st.info(plain_label(str(error), 400))
        return
    draw_facts(here, made)
    line = st.container(key="line-view", horizontal=True, vertical_alignment="center")
    draw_sent(here, made, line)
    hear_steering(lambda name, id: steer(here, name, id), key="context.steer")
    page_link(
        "context.py",
        "Memory, comparison and the exact request",
        place(here.chat, here.at),
        icon="open_in_full",
    )


def prepared(here: Frame) -> PreparedRequest:
    """With what is being typed here, as the composer would send it."""
    draft = drafts().at(draft_place(here.chat.id, here.chat.branch, here.at))
    return here.chat.calls.prepare(
        draft.text, at=here.at, model=asking(here).name, attachments=draft.files, search=draft.search
    )


def rows_of(here: Frame, made: PreparedRequest) -> tuple[ContextRow, ...]:
    known = here.chat.visible.messages
    asked = made.asked

    def lookup(id: MessageId) -> Message | None:
        return asked if asked is not None and id == asked.id else known.get(id) or here.chat.message(id)

    return rows(
        made.context,
        lookup,
        cached=made.cached,
        exclusions=here.chat.rules.current.exclusions,
        typed=asked.id if asked is not None else None,
        author=here.chat.people.author_of,
    )


def draw_sent(here: Frame, made: PreparedRequest, line: DeltaGenerator) -> None:
    """Keys: `context.filter`, `context.more`."""
    found = rows_of(here, made)
    with line:
        only = choose_one("Show", {one: one for one in ("All", "Sent", "Not sent")}, "context.filter")
        chosen = [row for row in found if only == "All" or row.item.included == (only == "Sent")]
        shown = int(st.session_state.get(_SHOWN, MOST))
        if len(chosen) > shown:
            quiet_button(
                f"Show {min(MOST, len(chosen) - shown):,} earlier of {len(chosen) - shown:,}",
                "context.more",
                _show_more,
                shown,
                icon="expand_less",
            )
    if not chosen:
        st.caption("Nothing." if found else "Nothing has been said here yet: only a question would be sent.")
        return
    draw_items(chosen, here.chat.id, shown=shown, steers=may_write(here.chat, here.chat.branch_name))


def _show_more(shown: int) -> None:
    st.session_state[_SHOWN] = shown + MOST


def steer(here: Frame, name: str, id: str) -> None:
    """A switch of a row. The id comes from a browser, so it is looked up like any other."""
    verbs = {
        "pin": here.chat.rules.pin,
        "unpin": here.chat.rules.unpin,
        "exclude": here.chat.rules.exclude,
        "include": here.chat.rules.include,
    }
    if name in verbs:
        with saying(here.session):
            done(here.session, verbs[name](id))
