"""Requests of Streamlit's browser that carry a press are mended before they are run.

The browser collects what happens in one turn of its event loop and sends it as one request: a fragment's where any of
it happened in one. What was pressed elsewhere then runs its handler and is never drawn. And a fragment that runs by the
clock, in that same turn, sends what was pressed along; its own request comes right behind. The handler runs twice, and
the page is drawn at the address that the browser had before the first: the click seems lost.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.app_session import AppSession

from pages.ui.streamlit_patches.leading import ask_from_there

_REQUEST = "request_rerun"
_PRESSED = ("trigger_value", "json_trigger_value", "string_trigger_value", "chat_input_value")
"""Kinds of values that a browser says once and forgets."""


def mend_requests() -> None:
    """Once. A Streamlit that does it otherwise is left alone."""
    request = getattr(AppSession, _REQUEST, None)
    if request is None:
        return

    @wraps(request)
    def hear(session: AppSession, asked: ClientState | None) -> None:
        if asked is not None:
            ask_from_there(session, asked)
        if asked is not None and asked.fragment_id:
            pressed = [state.id for state in asked.widget_states.widgets if is_pressed(state)]
            if pressed and asked.is_auto_rerun:
                return  # What was pressed is on its way; the clock comes again.
            if any(_is_outside(session, id, asked.fragment_id) for id in pressed):
                asked.fragment_id = ""
        request(session, asked)

    setattr(AppSession, _REQUEST, hear)


def is_pressed(state: WidgetState) -> bool:
    """Whether it says what was pressed, chosen or sent, and not only what a field holds."""
    kind = state.WhichOneof("value")
    if kind not in _PRESSED:
        return False
    value: Any = getattr(state, kind)
    return bool(value.ListFields() if hasattr(value, "ListFields") else value)


def _is_outside(session: AppSession, widget: str, fragment: str) -> bool:
    """Whether a run of the fragment would not draw it anew."""
    known = session.session_state.get_widget_metadata(widget)
    return known is not None and known.fragment_id != fragment
