"""Makes a press that the browser sends with a fragment's request act once, and draws the page that it changes.

Streamlit's browser collects the events of one turn of its event loop and sends them as one request: as a fragment's
request if any of them happened in a fragment. A press elsewhere on the page then runs its handler, but only the
fragment is drawn: this patch turns such a request into one for the whole page. And a fragment that runs by a timer
sends a press of the same turn along, although the press has a request of its own, so that its handler would run twice:
this patch drops the timer's request.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from pages.ui.streamlit_patches.patch import part

if TYPE_CHECKING:
    from streamlit.proto.ClientState_pb2 import ClientState
    from streamlit.proto.WidgetStates_pb2 import WidgetState
    from streamlit.runtime.app_session import AppSession

_PRESSED = ("trigger_value", "json_trigger_value", "string_trigger_value", "chat_input_value")
"""The kinds of values that a browser sends only once."""


def apply() -> None:
    """Have `AppSession.request_rerun` correct each request of a fragment that carries a press."""
    session_class = part("streamlit.runtime.app_session:AppSession")
    request = session_class.request_rerun

    @wraps(request)
    def request_what_was_pressed(session: AppSession, client_state: ClientState | None) -> Any:
        if client_state is not None and client_state.fragment_id:
            pressed = [state.id for state in client_state.widget_states.widgets if is_pressed(state)]
            if pressed and client_state.is_auto_rerun:
                return None
            if any(_is_outside(session, id, client_state.fragment_id) for id in pressed):
                client_state.fragment_id = ""
        return request(session, client_state)

    session_class.request_rerun = request_what_was_pressed


def is_pressed(state: WidgetState) -> bool:
    """Whether a widget's state is a press, a choice or a sent text, and not only the content of a field."""
    kind = state.WhichOneof("value")
    if kind not in _PRESSED:
        return False
    value: Any = getattr(state, kind)
    return bool(value.ListFields() if hasattr(value, "ListFields") else value)


def _is_outside(session: AppSession, widget: str, fragment: str) -> bool:
    """Whether a run of the fragment would not draw this widget."""
    metadata = session.session_state.get_widget_metadata(widget)
    return metadata is not None and metadata.fragment_id != fragment
