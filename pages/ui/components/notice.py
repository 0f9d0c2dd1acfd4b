"""What was just done, said once, with the way back beside it: the line below the title of every page.

A sentence stays until the person does something else. Undo is offered only while it would take back just that.
"""

from __future__ import annotations

import time

import streamlit as st

from forky_core.conversation.workspace import Workspace
from forky_core.model import Operation
from forky_core.model.errors import ForkyError
from pages.ui.components.markdown import plain_label
from pages.ui.frame import saying
from pages.ui.session import TabSession

_SETTLED = 1.0
"""Seconds within which a run belongs to the same click: a handler may ask for a second run."""
_LONGEST = 400


def done(held: TabSession, operation: Operation) -> None:
    """Say what was done, with an Undo."""
    held.say(operation.sentence, (operation.conversation, operation.number))


def stay(held: TabSession) -> None:
    """In the handler of a run that nobody asked for: what is said stays."""
    held.shown_at = time.monotonic()


def draw_notice(forky: Workspace, held: TabSession) -> None:
    """Keys: `notice.undo`, `notice.close`."""
    now = time.monotonic()
    if held.notice != held.shown_notice:
        held.shown_notice, held.shown_at = held.notice, now
    elif now - held.shown_at > _SETTLED:
        _forget(held)
    if not held.notice:
        return
    with st.container(key="notice", horizontal=True, vertical_alignment="center"):
        st.markdown(plain_label(held.notice, _LONGEST), width="stretch")
        if held.undoable is not None and _can_undo(forky, held.undoable):
            st.button("Undo", key="notice.undo", icon=":material/undo:", on_click=_undo, args=(forky, held))
        st.button(
            "Close this line",
            key="notice.close",
            icon=":material/close:",
            type="tertiary",
            help="Close this line",
            on_click=_forget,
            args=(held,),
        )


def _can_undo(forky: Workspace, undoable: tuple[str, int]) -> bool:
    id, number = undoable
    try:
        return number in {operation.number for operation in forky.conversation(id).history.next_undo}
    except ForkyError:
        return False


def _undo(forky: Workspace, held: TabSession) -> None:
    assert held.undoable is not None
    id, _ = held.undoable
    if not _can_undo(forky, held.undoable):
        held.say("Something else was done since; History can restore it.")
        return
    with saying(held):
        held.say(forky.conversation(id).undo().sentence)


def _forget(held: TabSession) -> None:
    held.say("")
