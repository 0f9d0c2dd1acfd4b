"""What was just done, said once, with the way back beside it: the line below the title of every page.

A sentence stays until the person does something else, and goes with the Undo or Redo beside it, which is offered only
while it would take back just that.
"""

from __future__ import annotations

import time

import streamlit as st

from forky_core.conversation.workspace import Workspace
from forky_core.model import Operation
from forky_core.model.errors import ForkyError
from forky_core.views.plain_words import plain_sentence
from pages.ui.components.buttons import button, quiet_button
from pages.ui.components.markdown import plain_label
from pages.ui.frame import saying
from pages.ui.session import TabSession

_SETTLED = 1.0
"""Seconds within which a run belongs to the same click: a handler may ask for a second run."""
_LONGEST = 400
_OVERTAKEN = "overtaken"
_WAYS = {
    "Undo": ("notice.undo", "undo"),
    "Redo": ("notice.redo", "redo"),
}


def done(tab: TabSession, operation: Operation) -> None:
    """Say what was done, with an Undo; of an undo with a Redo."""
    tab.say(plain_sentence(operation), (operation.conversation, operation.number))


def stay(tab: TabSession) -> None:
    """In the handler of a run that nobody asked for: what is said stays."""
    tab.shown_at = time.monotonic()


def draw_notice(forky: Workspace, tab: TabSession) -> None:
    """Keys: `notice.undo`, `notice.redo`, `notice.close`."""
    now = time.monotonic()
    if tab.notice != tab.shown_notice:
        tab.shown_notice, tab.shown_at = tab.notice, now
    elif now - tab.shown_at > _SETTLED:
        _forget(tab)
    way = _way_of(forky, tab.undoable) if tab.undoable is not None else None
    if not tab.notice or way == _OVERTAKEN:
        return
    with st.container(key="notice", horizontal=True, vertical_alignment="center"):
        st.markdown(plain_label(tab.notice, _LONGEST), width="stretch")
        if way in _WAYS:
            key, icon = _WAYS[way]
            button(way, key, _turn, forky, tab, icon=icon)
        quiet_button("Close this line", "notice.close", _forget, tab, icon="close", help="Close this line")


def _way_of(forky: Workspace, undoable: tuple[str, int]) -> str | None:
    """What would take back just that: "Undo", of an undo "Redo"; `_OVERTAKEN` where something was done since."""
    id, number = undoable
    try:
        timeline = forky.conversation(id).history.timeline
    except ForkyError:
        return None
    if number in {operation.number for operation in timeline.next_undo}:
        return "Undo"
    if timeline.undone and timeline.undone[-1][0].number == number:
        return "Redo"
    return _OVERTAKEN if timeline.version > number else None


def _turn(forky: Workspace, tab: TabSession) -> None:
    assert tab.undoable is not None
    way = _way_of(forky, tab.undoable)
    if way not in _WAYS:
        tab.say("Something else was done since; History can restore it.")
        return
    with saying(tab):
        chat = forky.conversation(tab.undoable[0])
        done(tab, chat.undo() if way == "Undo" else chat.redo())


def _forget(tab: TabSession) -> None:
    tab.say("")
