"""Ignores the second press of a double click.

It comes before anybody can have seen the effect of the first press, and nobody wants two forks or two stashes of the
same draft. Undo, Redo and “Show more” are exempt, because there each press is one more step.
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
"""The ends of the ids of buttons for which each press counts."""
_ANSWERED = "double_clicks.answered"
_UNSEEN = 0.3
"""Seconds after a page is drawn until a person can have seen it."""


def apply() -> None:
    """Have `SafeSessionState` remove second presses from the widget states of a request."""
    state_class = part("streamlit.runtime.state:SafeSessionState")
    handle, finish = state_class.on_script_will_rerun, state_class.on_script_finished

    @wraps(handle)
    def handle_once(safe: SafeSessionState, states: WidgetStates | None, **named: Any) -> None:
        if states is not None:
            with safe._lock:
                _remove_second_presses(safe._state, states)
        handle(safe, states, **named)

    @wraps(finish)
    def finish_and_forget(safe: SafeSessionState, drawn: frozenset[str], **named: Any) -> None:
        finish(safe, drawn, **named)
        if named.get("remove_stale_widgets", True):
            with safe._lock:
                _limit_answered(safe._state)

    state_class.on_script_will_rerun = handle_once
    state_class.on_script_finished = finish_and_forget


def _remove_second_presses(state: SessionState, states: WidgetStates) -> None:
    """Remove second presses from `states`, and note the first ones.

    Presses of a button without a handler always stay: the page reacts to them when it is drawn, and the run that did so
    may have been interrupted.
    """
    now = time.monotonic()
    answered = {id: until for id, until in _answered(state).items() if now < until}
    pressed = {one.id: one for one in states.widgets if one.trigger_value and not one.id.endswith(_STEPS)}
    for id in answered.keys() & pressed.keys():
        pressed.pop(id).trigger_value = False
    handled = (id for id in pressed if (metadata := state.get_widget_metadata(id)) and metadata.callback)
    state[_ANSWERED] = answered | dict.fromkeys(handled, math.inf)


def _limit_answered(state: SessionState) -> None:
    """Accept a new press of each button as soon as a person can have seen the page that has just been drawn."""
    seen = time.monotonic() + _UNSEEN
    state[_ANSWERED] = {id: min(until, seen) for id, until in _answered(state).items()}


def _answered(state: SessionState) -> dict[str, float]:
    """Return the buttons whose handler ran, with the time until which another press of each is a double click."""
    return state[_ANSWERED] if _ANSWERED in state else {}  # noqa: SIM401 - it has no get
