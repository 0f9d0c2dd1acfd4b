"""Gives a click on a link to another page precedence over requests that the browser sent from the old page.

Until the browser receives the other page, all its requests name the old one, for instance those of a fragment's timer.
Streamlit would merge such a request with the one of the click, or run it afterwards, and show the old page again: the
click was lost. So requests from the old page are dropped until the browser has sent one from the new page. Presses are
the exception: they are handled first, and the new page is drawn after them.
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
"""An attribute of a session: the page that its browser shows, as far as its requests tell."""


@dataclass(slots=True)
class _BrowserPage:
    """The page that a browser shows and the one that it asked for, each by Streamlit's hash of its script."""

    page: str = ""
    """The page of the browser's last request."""
    asked: ClientState | None = None
    """The request for another page, until the browser has sent a request from there."""
    since: float = 0.0
    """The time of that request, or when the server was first found to be on another page."""

    def is_late(self) -> bool:
        return time.monotonic() - self.since > ON_ITS_WAY


def apply() -> None:
    """Have `AppSession.request_rerun` keep to the page that was asked for last."""
    session_class = part("streamlit.runtime.app_session:AppSession")
    request = session_class.request_rerun

    @wraps(request)
    def request_of_the_page_asked_for(session: AppSession, client_state: ClientState | None) -> Any:
        if client_state is None or not client_state.page_script_hash:
            return request(session, client_state)
        browser = _browser_page(session)
        drawn = session._client_state.page_script_hash
        if not _is_from_old_page(browser, client_state, drawn):
            _note(browser, client_state, drawn)
            return request(session, client_state)
        if not any(is_pressed(state) for state in client_state.widget_states.widgets):
            return None
        answer = request(session, client_state)
        return answer if browser.asked is None else request(session, _copy(browser.asked))

    session_class.request_rerun = request_of_the_page_asked_for


def _browser_page(session: AppSession) -> _BrowserPage:
    browser: _BrowserPage | None = getattr(session, _SEEN, None)
    if browser is None:
        browser = _BrowserPage()
        setattr(session, _SEEN, browser)
    return browser


def _is_from_old_page(browser: _BrowserPage, asked: ClientState, drawn: str) -> bool:
    """Whether a request comes from the old page although another one was asked for, or drawn by a handler, already."""
    page = asked.page_script_hash
    if page != browser.page or _is_page_request(asked):
        return False
    if browser.asked is None and drawn != page:
        browser.since = browser.since or time.monotonic()
    elif browser.asked is None or browser.asked.page_script_hash == page:
        return False
    return not browser.is_late()


def _is_page_request(asked: ClientState) -> bool:
    """Whether somebody asks for a page: such a request names none of that page's own widgets."""
    return asked.is_history_navigation or not (asked.fragment_id or asked.widget_states.widgets)


def _note(browser: _BrowserPage, asked: ClientState, drawn: str) -> None:
    page = asked.page_script_hash
    browser.page = browser.page or drawn
    if _is_page_request(asked) and page != browser.page:
        browser.asked, browser.since = _copy(asked), time.monotonic()
    else:
        browser.page, browser.asked, browser.since = page, None, 0.0


def _copy(asked: ClientState) -> ClientState:
    copy = type(asked)()
    copy.CopyFrom(asked)
    return copy
