"""A tab that is open for hours does not keep all that its buttons have ever been about.

Streamlit keeps the metadata of each widget for as long as the tab is open, with its handler and what the handler is
called with: a conversation as it was then, with its messages and its graph. Here those are forgotten that the page has
not drawn for a while. The browser may still show what was drawn a few runs ago, so a press on that is heard.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from pages.ui.streamlit_patches.patch import part

if TYPE_CHECKING:
    from streamlit.runtime.state import SafeSessionState, SessionState

RUNS = 8
"""Runs of the whole page after which a widget is forgotten that none of them has drawn."""
_DRAWN = "forgotten_widgets.drawn"
_EVENTS = "$$STREAMLIT_INTERNAL_KEY_{}__events"
"""The widget by which a component's events come, after the component's own id. No run says that it has drawn that."""


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
    """Note what a run has drawn, and after one of the whole page forget what none has drawn lately."""
    lately: tuple[frozenset[str], ...] = state[_DRAWN] if _DRAWN in state else ()  # noqa: SIM401 - it has no get
    if not is_whole:
        state[_DRAWN] = (*lately[:-1], lately[-1] | drawn) if lately else (drawn,)
        return
    state[_DRAWN] = lately = (*lately, drawn)[-RUNS - 1 :]
    if len(lately) > RUNS:
        gone = lately[0].difference(*lately[1:])
        known = state._new_widget_state.widget_metadata
        for id in gone:
            known.pop(id, None)
            known.pop(_EVENTS.format(id), None)
