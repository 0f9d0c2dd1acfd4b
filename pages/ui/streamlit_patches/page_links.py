"""Makes a link within the current page change the browser's address.

Streamlit's browser changes its address before it follows a link, but only if the link leads to another page. A link
from the list of polls to a poll, which is on the same page, drew the poll and left the address of the list: the next
press went back to the list. With this patch the server sends the browser the address of such a link, as it does after a
handler has changed the address.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from pages.ui.streamlit_patches.patch import part
from pages.ui.streamlit_patches.patches import is_on

if TYPE_CHECKING:
    from streamlit.proto.ClientState_pb2 import ClientState
    from streamlit.runtime.app_session import AppSession

_MOST = 1_000
_asked: dict[str, str] = {}
"""The query that a link within the current page asked for, by the id of the tab's session, until its run begins."""


def send_address() -> None:
    """Send the address of this run to the browser if a link on the same page led here. Call it when a run begins."""
    context = part("streamlit.runtime.scriptrunner:get_script_run_ctx")() if is_on("page_links") else None
    if context is not None and _asked.pop(context.session_id, None) == context.query_string:
        message = part("streamlit.proto.ForwardMsg_pb2:ForwardMsg")()
        message.page_info_changed.query_string = context.query_string
        context.enqueue(message)


def apply() -> None:
    """Have `AppSession.request_rerun` note the addresses of links within the current page."""
    session_class = part("streamlit.runtime.app_session:AppSession")
    request = session_class.request_rerun

    @wraps(request)
    def request_and_note(session: AppSession, client_state: ClientState | None) -> Any:
        if client_state is not None and _is_link(client_state, session._client_state.page_script_hash):
            if len(_asked) >= _MOST:  # The entries of tabs that were closed before their runs began stay.
                _asked.clear()
            _asked[session.id] = client_state.query_string
        return request(session, client_state)

    session_class.request_rerun = request_and_note


def _is_link(asked: ClientState, shown: str) -> bool:
    """Whether a request follows a link to the current page: it names no fragment and no widget of the page."""
    on_the_page = asked.fragment_id or asked.widget_states.widgets or asked.is_history_navigation
    return bool(shown) and asked.page_script_hash == shown and not on_the_page
