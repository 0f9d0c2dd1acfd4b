"""Gives an address that a handler sets precedence over requests that the browser sent from the old address.

A browser's request names the address that it has at that moment. A request that left before the browser received the
new address names the old one, and Streamlit would run the page there. So `lead` notes the new address, and requests
from an old one are corrected until the browser has sent another: when they come in (`AppSession.request_rerun`), and
when their run begins (`follow`), because they may have come in while the handler ran.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from pages.ui.streamlit_patches.patch import part
from pages.ui.streamlit_patches.patches import is_on

if TYPE_CHECKING:
    from streamlit.proto.ClientState_pb2 import ClientState
    from streamlit.runtime.app_session import AppSession

_LED = "navigation.led"
ON_ITS_WAY = 5.0
"""Seconds within which a browser receives a new address or another page."""

_Query = frozenset[tuple[str, str]]


@dataclass(slots=True)
class _NewAddress:
    """An address that a handler set for this tab."""

    page: str
    """The page that the tab was on, by Streamlit's hash of its script."""
    before: frozenset[_Query]
    """The addresses that the browser may still have."""
    to: Mapping[str, str | list[str]]
    """The new address."""
    query: _Query
    """The new address as the browser sends it."""
    at: float
    confirmed: bool = False
    """Whether the browser has since sent a request with another address than those before."""

    def is_awaited(self, page: str, here: _Query, *, back: bool) -> bool:
        """Whether a request from `here` was sent before the browser had the new address.

        A request that the browser marks as Back never counts as such, because the person asked for it.
        """
        late = time.monotonic() - self.at > ON_ITS_WAY
        return not (self.confirmed or back or late or page != self.page or here not in self.before)


def lead(to: Mapping[str, str | list[str]]) -> None:
    """Set the query of this tab's address. Call it in a handler."""
    here, new = _here(), frozenset(parse_qsl(urlencode(to, doseq=True), keep_blank_values=True))
    st.query_params.from_dict(to)
    if here == new or not is_on("navigation"):
        return
    context = part("streamlit.runtime.scriptrunner:get_script_run_ctx")()
    if context is None:
        return
    last, page, before = st.session_state.get(_LED), context.page_script_hash, frozenset({here})
    if last is not None and last.page == page and not last.confirmed:
        before |= last.before | {last.query}
    st.session_state[_LED] = _NewAddress(page, before - {new}, dict(to), new, time.monotonic())


def follow() -> None:
    """Correct the address of this run if it was requested before the browser had the new one.

    Call it when a run begins, before anything reads the address.
    """
    new = st.session_state.get(_LED)
    if new is None or not is_on("navigation"):
        return
    context = part("streamlit.runtime.scriptrunner:get_script_run_ctx")()
    if context is not None and new.is_awaited(
        context.page_script_hash, _here(), back=context.is_history_navigation
    ):
        st.query_params.from_dict(new.to)


def apply() -> None:
    """Have `AppSession.request_rerun` correct the address of each request that comes in."""
    session_class = part("streamlit.runtime.app_session:AppSession")
    request = session_class.request_rerun

    @wraps(request)
    def request_with_new_address(session: AppSession, client_state: ClientState | None) -> Any:
        if client_state is not None:
            _correct_address(session, client_state)
        return request(session, client_state)

    session_class.request_rerun = request_with_new_address


def _correct_address(session: AppSession, asked: ClientState) -> None:
    try:
        new = session.session_state[_LED]
    except KeyError:
        return
    here = frozenset(parse_qsl(asked.query_string, keep_blank_values=True))
    if new.is_awaited(asked.page_script_hash, here, back=asked.is_history_navigation):
        asked.query_string = urlencode(new.to, doseq=True)
    else:
        new.confirmed = True


def _here() -> _Query:
    """The address of this run."""
    params = st.query_params
    return frozenset((name, value) for name in params for value in params.get_all(name))
