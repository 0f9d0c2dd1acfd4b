"""A click on a link to another page wins over requests that the browser sent from the page that it leaves.

Until the browser hears that the other page is drawn, everything that it sends names the page before, as the clock of a
fragment does. Streamlit would merge such a request with the one of the click, or run it behind, and be back on the page
before: the click was lost. So a request from there is dropped until the browser has been heard from the other page. A
press is the exception: it is handled first, and the page that was asked for comes after it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

from pages.ui.streamlit_patches.fragment_requests import is_pressed
from pages.ui.streamlit_patches.navigation import ON_ITS_WAY
from pages.ui.streamlit_patches.patch import part

if TYPE_CHECKING:
    from streamlit.proto.ClientState_pb2 import ClientState
    from streamlit.runtime.app_session import AppSession

_SEEN = "forky_page_seen"
"""Attribute of a session: what its browser is known to show."""


@dataclass(slots=True)
class _ShownPage:
    """Pages are named by Streamlit's hash of their script."""

    page: str = ""
    """The page from which the browser was last heard."""
    asked: ClientState | None = None
    """The request for another page, from which the browser has not been heard yet."""
    since: float = 0.0
    """When that was asked for, or when the server was first found to be on another page."""

    def is_late(self) -> bool:
        return time.monotonic() - self.since > ON_ITS_WAY


def apply() -> None:
    """Have `AppSession.request_rerun` hold to the page that was asked for last."""
    session_class = part("streamlit.runtime.app_session:AppSession")
    request = session_class.request_rerun

    @wraps(request)
    def request_of_the_page_asked_for(session: AppSession, client_state: ClientState | None) -> Any:
        if client_state is None or not client_state.page_script_hash:
            return request(session, client_state)
        seen = _seen(session)
        drawn = session._client_state.page_script_hash
        if not _is_left(seen, client_state, drawn):
            _note(seen, client_state, drawn)
            return request(session, client_state)
        if not any(is_pressed(state) for state in client_state.widget_states.widgets):
            return None
        answer = request(session, client_state)
        return answer if seen.asked is None else request(session, _copy(seen.asked))

    session_class.request_rerun = request_of_the_page_asked_for


def _seen(session: AppSession) -> _ShownPage:
    seen: _ShownPage | None = getattr(session, _SEEN, None)
    if seen is None:
        seen = _ShownPage()
        setattr(session, _SEEN, seen)
    return seen


def _is_left(seen: _ShownPage, asked: ClientState, drawn: str) -> bool:
    """Whether a request comes from the page before, though another was asked for or, by a handler, drawn already."""
    page = asked.page_script_hash
    if page != seen.page or _is_wish(asked):
        return False
    if seen.asked is None and drawn != page:
        seen.since = seen.since or time.monotonic()
    elif seen.asked is None or seen.asked.page_script_hash == page:
        return False
    return not seen.is_late()


def _is_wish(asked: ClientState) -> bool:
    """Whether somebody asks for a page: such a request names none of that page's own widgets."""
    return asked.is_history_navigation or not (asked.fragment_id or asked.widget_states.widgets)


def _note(seen: _ShownPage, asked: ClientState, drawn: str) -> None:
    page = asked.page_script_hash
    seen.page = seen.page or drawn
    if _is_wish(asked) and page != seen.page:
        seen.asked, seen.since = _copy(asked), time.monotonic()
    else:
        seen.page, seen.asked, seen.since = page, None, 0.0


def _copy(asked: ClientState) -> ClientState:
    copy = type(asked)()
    copy.CopyFrom(asked)
    return copy
