"""Frees the memory of widgets that a tab has not drawn for a while.

Streamlit keeps the metadata of each widget for as long as the tab is open, with its handler and the handler's
arguments: an old version of a conversation, with its messages and its graph. This patch deletes the metadata of widgets
that the last runs have not drawn. It keeps those of a few runs, because the browser may still show them.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from pages.ui.streamlit_patches.patch import part

if TYPE_CHECKING:
    from streamlit.runtime.state import SafeSessionState, SessionState

RUNS = 8
"""A widget is forgotten after so many runs of the whole page that did not draw it."""
_DRAWN = "forgotten_widgets.drawn"
_EVENTS = "$$STREAMLIT_INTERNAL_KEY_{}__events"
"""The id of the widget for a component's events, with the component's own id; Streamlit never lists it as drawn."""


def apply() -> None:
    """Have `SafeSessionState` forget widgets at the end of a run."""
    state_class = part("streamlit.runtime.state:SafeSessionState")
    script_context = part("streamlit.runtime.scriptrunner:get_script_run_ctx")
    finish = state_class.on_script_finished

    @wraps(finish)
    def finish_and_forget(safe: SafeSessionState, drawn: frozenset[str], **named: Any) -> None:
        finish(safe, drawn, **named)
        context = script_context()
        if named.get("remove_stale_widgets", True) and context is not None:
            with safe._lock:
                _forget(safe._state, drawn, is_whole=not context.fragment_ids_this_run)

    state_class.on_script_finished = finish_and_forget


def _forget(state: SessionState, drawn: frozenset[str], *, is_whole: bool) -> None:
    """Note the widgets that a run has drawn; after a run of the whole page, forget those that no recent run drew."""
    recent: tuple[frozenset[str], ...] = state[_DRAWN] if _DRAWN in state else ()  # noqa: SIM401 - it has no get
    if not is_whole:
        state[_DRAWN] = (*recent[:-1], recent[-1] | drawn) if recent else (drawn,)
        return
    state[_DRAWN] = recent = (*recent, drawn)[-RUNS - 1 :]
    if len(recent) > RUNS:
        gone = recent[0].difference(*recent[1:])
        metadata = state._new_widget_state.widget_metadata
        for id in gone:
            metadata.pop(id, None)
            metadata.pop(_EVENTS.format(id), None)
