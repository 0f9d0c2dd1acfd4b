"""Keeps the state of components from run to run without making a view of each.

A script reads the state of a component through a view, for which Streamlit makes a new class each time. It makes views
even where nothing reads them: of every component at the beginning of each run, and again for every field of text, list
or number that is drawn. With a page of many components that was a fifth of all the work of a server. Without the views
the state also keeps no presses of the run before.
"""

from __future__ import annotations

import threading
from functools import wraps
from typing import TYPE_CHECKING, Any

from pages.ui.streamlit_patches.patch import part

if TYPE_CHECKING:
    from streamlit.runtime.state import SessionState

_MODULE = "streamlit.runtime.state.session_state:"


def apply() -> None:
    """Have `SessionState._compact_state` and `filtered_state` read values without the views."""
    module, state = part(_MODULE), part(f"{_MODULE}SessionState")
    present, compact, filtered = module.apply_presenter, state._compact_state, state.filtered_state.fget
    thread = threading.local()

    @wraps(present)
    def apply_presenter(session_state: SessionState, widget_id: str, base_value: Any) -> Any:
        if getattr(thread, "bare", False):
            return base_value
        return present(session_state, widget_id, base_value)

    def bare(read: Any) -> Any:
        @wraps(read)
        def reading(self: SessionState) -> Any:
            thread.bare = True
            try:
                return read(self)
            finally:
                thread.bare = False

        return reading

    module.apply_presenter = apply_presenter
    state._compact_state = bare(compact)
    state.filtered_state = property(bare(filtered))
