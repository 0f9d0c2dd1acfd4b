"""A handler that leads the tab to another place wins over requests that the browser sent from the old place.

A browser's request names the address that it has at that moment. One that left before the browser heard of the new
address names the old one, and Streamlit would run the page there. So `lead` notes where it led, and a request from an
old place is turned into one from the new place until the browser has sent one from there: when it comes in
(`AppSession.request_rerun`), and when its run begins (`follow`), because it may have come in while the handler ran.
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
"""Seconds that a browser may need to hear of a new address, or of another page."""

_Query = frozenset[tuple[str, str]]


@dataclass(slots=True)
class _Led:
    """Where a handler led this tab."""

    page: str
    """The page that the tab was on, by Streamlit's hash of its script."""
    before: frozenset[_Query]
    """The addresses at which the browser may still be."""
    to: Mapping[str, str | list[str]]
    there: _Query
    """The same as the browser names it."""
    at: float
    heard: bool = False
    """Whether the browser has sent a request from another address since."""

    def is_awaited(self, page: str, here: _Query, *, back: bool) -> bool:
        """Whether a request from `here` was sent before the browser knew the new address.

        One that the browser marks as Back is always what the person wants.
        """
        late = time.monotonic() - self.at > ON_ITS_WAY
        return not (self.heard or back or late or page != self.page or here not in self.before)


def lead(to: Mapping[str, str | list[str]]) -> None:
    """Set the query of this tab's address. Call it in a handler."""
    here, there = _here(), frozenset(parse_qsl(urlencode(to, doseq=True), keep_blank_values=True))
    st.query_params.from_dict(to)
    if here == there or not is_on("navigation"):
        return
    context = part("streamlit.runtime.scriptrunner:get_script_run_ctx")()
    if context is None:
        return
    led, page, before = st.session_state.get(_LED), context.page_script_hash, frozenset({here})
    if led is not None and led.page == page and not led.heard:
        before |= led.before | {led.there}
    st.session_state[_LED] = _Led(page, before - {there}, dict(to), there, time.monotonic())


def follow() -> None:
    """Correct the address of this run where it was asked for before the browser knew the new one.

    Call it when a run begins, before anything reads the address.
    """
    led = st.session_state.get(_LED)
    if led is None or not is_on("navigation"):
        return
    context = part("streamlit.runtime.scriptrunner:get_script_run_ctx")()
    if context is not None and led.is_awaited(
        context.page_script_hash, _here(), back=context.is_history_navigation
    ):
        st.query_params.from_dict(led.to)


def apply() -> None:
    """Have `AppSession.request_rerun` correct the address of each request that comes in."""
    session_class = part("streamlit.runtime.app_session:AppSession")
    request = session_class.request_rerun

    @wraps(request)
    def request_from_there(session: AppSession, client_state: ClientState | None) -> Any:
        if client_state is not None:
            _correct_address(session, client_state)
        return request(session, client_state)

    session_class.request_rerun = request_from_there


def _correct_address(session: AppSession, asked: ClientState) -> None:
    try:
        led = session.session_state[_LED]
    except KeyError:
        return
    here = frozenset(parse_qsl(asked.query_string, keep_blank_values=True))
    if led.is_awaited(asked.page_script_hash, here, back=asked.is_history_navigation):
        asked.query_string = urlencode(led.to, doseq=True)
    else:
        led.heard = True


def _here() -> _Query:
    """The address of this run."""
    params = st.query_params
    return frozenset((name, value) for name in params for value in params.get_all(name))
