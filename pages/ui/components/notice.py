"""What was just done, said once, with the way back beside it: the line below the title of every page.

A sentence stays until the person does something else. Undo is offered only while it would take back just that.
"""

from __future__ import annotations

import time

import streamlit as st

from forky_core.conversation.workspace import Workspace
from forky_core.model import Operation
from forky_core.model.errors import ForkyError
from forky_core.views.plain_words import plain_sentence
from pages.ui.components.markdown import plain_label
from pages.ui.frame import saying
from pages.ui.session import TabSession

_SETTLED = 1.0
"""Seconds within which a run belongs to the same click: a handler may ask for a second run."""
_LONGEST = 400


def done(tab: TabSession, operation: Operation) -> None:
    """Say what was done, with an Undo."""
    tab.say(plain_sentence(operation), (operation.conversation, operation.number))


def stay(tab: TabSession) -> None:
    """In the handler of a run that nobody asked for: what is said stays."""
    tab.shown_at = time.monotonic()


def draw_notice(forky: Workspace, tab: TabSession) -> None:
    """Keys: `notice.undo`, `notice.close`."""
    now = time.monotonic()
    if tab.notice != tab.shown_notice:
        tab.shown_notice, tab.shown_at = tab.notice, now
    elif now - tab.shown_at > _SETTLED:
        _forget(tab)
    if not tab.notice:
        return
    with st.container(key="notice", horizontal=True, vertical_alignment="center"):
        st.markdown(plain_label(tab.notice, _LONGEST), width="stretch")
        if tab.undoable is not None and _can_undo(forky, tab.undoable):
            st.button("Undo", key="notice.undo", icon=":material/undo:", on_click=_undo, args=(forky, tab))
        st.button(
            "Close this line",
            key="notice.close",
            icon=":material/close:",
            type="tertiary",
            help="Close this line",
            on_click=_forget,
            args=(tab,),
        )


def _can_undo(forky: Workspace, undoable: tuple[str, int]) -> bool:
    id, number = undoable
    try:
        return number in {operation.number for operation in forky.conversation(id).history.next_undo}
    except ForkyError:
        return False


def _undo(forky: Workspace, tab: TabSession) -> None:
    assert tab.undoable is not None
    id, _ = tab.undoable
    if not _can_undo(forky, tab.undoable):
        tab.say("Something else was done since; History can restore it.")
        return
    with saying(tab):
        tab.say(plain_sentence(forky.conversation(id).undo()))


def _forget(tab: TabSession) -> None:
    tab.say("")
