"""A double click is one press.

Its second half comes before anybody can have seen what the first one did, and nobody meant two forks, or a second stash
of the same draft. Of Undo and Redo each press is a step, and one of “Show more” shows more.
"""

from __future__ import annotations

import math
import time
from functools import wraps
from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.state import SafeSessionState, SessionState

_HANDLE = "on_script_will_rerun"
_FINISH = "on_script_finished"
_STEPS = (".undo", ".redo", ".earlier", ".more")
"""Ends of the ids of the buttons of which each press counts."""
_ANSWERED = "hearing.answered"
_UNSEEN = 0.3
"""Seconds from a page that is drawn to one that somebody may have seen."""


def take_a_double_click_for_one() -> None:
    """Once. A Streamlit that does it otherwise is left alone."""
    handle = getattr(SafeSessionState, _HANDLE, None)
    finish = getattr(SafeSessionState, _FINISH, None)
    if handle is None or finish is None:
        return

    @wraps(handle)
    def handle_once(safe: SafeSessionState, came: WidgetStates | None, **named: Any) -> None:
        if came is not None:
            _leave_out_answered(safe._state, came)
        handle(safe, came, **named)

    @wraps(finish)
    def finish_and_forget(safe: SafeSessionState, drawn: frozenset[str], **named: Any) -> None:
        finish(safe, drawn, **named)
        if named.get("remove_stale_widgets", True):
            _let_be_seen(safe._state)

    setattr(SafeSessionState, _HANDLE, handle_once)
    setattr(SafeSessionState, _FINISH, finish_and_forget)


def _leave_out_answered(state: SessionState, came: WidgetStates) -> None:
    """A button without a handler is answered by what the page does when it is drawn: its press is never left out."""
    now = time.monotonic()
    answered = {id: until for id, until in _answered(state).items() if now < until}
    pressed = {one.id: one for one in came.widgets if one.trigger_value and not one.id.endswith(_STEPS)}
    for id in answered.keys() & pressed.keys():
        pressed.pop(id).trigger_value = False
    heard = (id for id in pressed if (known := state.get_widget_metadata(id)) and known.callback)
    state[_ANSWERED] = answered | dict.fromkeys(heard, math.inf)


def _let_be_seen(state: SessionState) -> None:
    """The page is drawn, and on its way to the browser."""
    seen = time.monotonic() + _UNSEEN
    state[_ANSWERED] = {id: min(until, seen) for id, until in _answered(state).items()}


def _answered(state: SessionState) -> dict[str, float]:
    """Buttons whose handler ran, and until when another press of each is of one who has not seen it."""
    return state[_ANSWERED] if _ANSWERED in state else {}  # noqa: SIM401 - it has no get
