"""The second press of a double click is ignored.

It comes before anybody can have seen what the first press did, and nobody wants two forks, or a second stash of the
same draft. Undo, Redo and “Show more” are exempt: there each press is one more step.
"""

from __future__ import annotations

import math
import time
from functools import wraps
from typing import TYPE_CHECKING, Any

from pages.ui.streamlit_patches.patch import part

if TYPE_CHECKING:
    from streamlit.proto.WidgetStates_pb2 import WidgetStates
    from streamlit.runtime.state import SafeSessionState, SessionState

_STEPS = (".undo", ".redo", ".earlier", ".more")
"""The ends of the ids of those buttons of which each press counts."""
_ANSWERED = "double_clicks.answered"
_UNSEEN = 0.3
"""Seconds from when a page is drawn until somebody may have seen it."""


def apply() -> None:
    """Have `SafeSessionState` leave second presses out of what a request brings."""
    state_class = part("streamlit.runtime.state:SafeSessionState")
    handle, finish = state_class.on_script_will_rerun, state_class.on_script_finished

    @wraps(handle)
    def handle_once(safe: SafeSessionState, came: WidgetStates | None, **named: Any) -> None:
        if came is not None:
            with safe._lock:
                _leave_out_answered(safe._state, came)
        handle(safe, came, **named)

    @wraps(finish)
    def finish_and_forget(safe: SafeSessionState, drawn: frozenset[str], **named: Any) -> None:
        finish(safe, drawn, **named)
        if named.get("remove_stale_widgets", True):
            with safe._lock:
                _limit_answered(safe._state)

    state_class.on_script_will_rerun = handle_once
    state_class.on_script_finished = finish_and_forget


def _leave_out_answered(state: SessionState, came: WidgetStates) -> None:
    """Take second presses out of `came`, and note the first ones.

    A button without a handler is never left out: the page reacts to it when it is drawn, and the run that did so may
    have been interrupted.
    """
    now = time.monotonic()
    answered = {id: until for id, until in _answered(state).items() if now < until}
    pressed = {one.id: one for one in came.widgets if one.trigger_value and not one.id.endswith(_STEPS)}
    for id in answered.keys() & pressed.keys():
        pressed.pop(id).trigger_value = False
    handled = (id for id in pressed if (known := state.get_widget_metadata(id)) and known.callback)
    state[_ANSWERED] = answered | dict.fromkeys(handled, math.inf)


def _limit_answered(state: SessionState) -> None:
    """Let each button be pressed again shortly after the page, which is drawn now, can have been seen."""
    seen = time.monotonic() + _UNSEEN
    state[_ANSWERED] = {id: min(until, seen) for id, until in _answered(state).items()}


def _answered(state: SessionState) -> dict[str, float]:
    """The buttons whose handler ran, each with the time until which another press of it is a double click."""
    return state[_ANSWERED] if _ANSWERED in state else {}  # noqa: SIM401 - it has no get
