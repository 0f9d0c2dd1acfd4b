"""What the window of cells leaves out: earlier messages above it, later ones below the message looked at."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from forky_core.conversation.conversation import Conversation
from forky_core.model import Message, MessageId
from forky_core.views.notebook import (
    MORE,
    Notebook,
    notebook,
    position_of,
    questions_that_began_branches,
    window_start,
)
from forky_core.views.places import branch_for
from forky_core.views.shelf import count
from pages.ui.components.buttons import quiet_button
from pages.ui.components.markdown import plain_label
from pages.ui.frame import Frame, go

_FAR = 100
"""Messages above the window at which a form still opens where one is; beyond them one goes to its message."""

_MOST = 50
_kept_begun: dict[str, tuple[int, frozenset[MessageId]]] = {}


def book_of(
    here: Frame, path: Sequence[Message], *, more: int = 0, keep: MessageId | None = None
) -> Notebook:
    """The window of a path, `more` earlier messages, and what lies between them and one to `keep`."""
    return notebook(
        path, here.listed, here.chat.view, here.origins, more=more, keep=keep, begun=begun_in(here.chat)
    )


def begun_in(chat: Conversation) -> frozenset[MessageId]:
    """The questions that began a branch, kept while the view stays."""
    timeline, kept = chat.history.timeline, _kept_begun.get(chat.id)
    if kept is None or kept[0] != timeline.version:
        if len(_kept_begun) >= _MOST:
            _kept_begun.clear()
        kept = timeline.version, frozenset(questions_that_began_branches(timeline.done))
        _kept_begun[chat.id] = kept
    return kept[1]


def is_near(here: Frame, message: MessageId) -> bool:
    """Whether a message is on the path that is looked at, in its window or not far above."""
    path = here.chat.path(here.at)
    return position_of(message, path[max(0, window_start(path) - more_of(here) - _FAR) :]) is not None


def tip_below(here: Frame, version: MessageId) -> MessageId:
    """The message to go to when this version of a message is chosen: the end of its newest line."""
    listed = here.listed if version in here.listed.messages else here.chat.visible
    return listed.newest_tip(version)


def window_anchor(here: Frame) -> str:
    """What a reader's place on the page belongs to: the end of a branch wherever it moves, or one message."""
    return f"{here.chat.id}/{here.chat.branch_name}/{'' if here.at_head else here.at}"


def more_of(here: Frame) -> int:
    """Messages asked for beyond the window, here; forgotten once somebody has gone elsewhere."""
    if here.session.window_of != window_anchor(here):
        here.session.window = 0
    return here.session.window


def draw_earlier(here: Frame, book: Notebook, first: MessageId) -> None:
    """Keys: `chat.earlier`, `chat.begin`. Scrolling up presses the first by itself (scrolling.js)."""
    if not book.earlier:
        return
    with st.container(key="line-earlier", horizontal=True, horizontal_alignment="center"):
        quiet_button(
            f"Show {min(MORE, book.earlier)} earlier of {book.earlier:,}",
            "chat.earlier",
            _show_more,
            here,
            window_anchor(here),
            icon="expand_less",
        )
        quiet_button(
            "To the beginning",
            "chat.begin",
            go,
            here.chat,
            first,
            icon="first_page",
            help="Look at the first message; the branch stays where it is",
        )


def _show_more(here: Frame, place: str) -> None:
    """A click that was overtaken by one that leads elsewhere asks for nothing there."""
    tab = here.session
    tab.window = (tab.window if tab.window_of == place else 0) + MORE
    tab.window_of = place


def draw_later(here: Frame, later: int | None) -> None:
    """Keys: `chat.newest`, `chat.next`."""
    with st.container(key="line-later", horizontal=True, vertical_alignment="center"):
        name = plain_label(here.chat.branch_name, 60)
        if later is None:
            st.markdown(_off_branch(here, name), width="stretch")
        else:
            st.markdown(f"{count(later, 'later message')} on **{name}**", width="stretch")
        quiet_button("To the newest", "chat.newest", go, here.chat, icon="last_page")


def _off_branch(here: Frame, name: str) -> str:
    """What is said below a message that does not lead to the end of the branch."""
    if here.at is not None:
        other = branch_for(here.at, here.chat.view, here.chat.visible, here.chat.branch_name)
        if other != here.chat.branch_name:
            return f"**{name}** does not lead here; **{plain_label(other, 60)}** does"
    return "No branch leads here any more; asking here makes one."
