"""Where a handler leads the tab, also what the browser asks for before it has heard of it.

What leaves before that names the old place. So a handler that leads somewhere says so, and what is asked from an old
place is asked from the new one until the browser has been heard from there: as it comes in, and as it runs, because it
may have come in while the handler was at work.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

import streamlit as st
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import get_script_run_ctx

_LED = "hearing.led"
_ON_ITS_WAY = 5.0
"""Seconds that a browser may need to hear of a new address."""

_Query = frozenset[tuple[str, str]]


@dataclass(slots=True)
class _Led:
    """Where this tab was led."""

    page: str
    """By Streamlit's hash of its script."""
    before: frozenset[_Query]
    """Where the browser may still be."""
    to: Mapping[str, str]
    at: float
    heard: bool = False

    def is_awaited(self, page: str, here: _Query, *, back: bool) -> bool:
        """Whether a browser that is here is still to hear of it; Back is somebody's wish."""
        late = time.monotonic() - self.at > _ON_ITS_WAY
        return not (self.heard or back or late or page != self.page or here not in self.before)


def lead(to: Mapping[str, str]) -> None:
    """Set the query of this tab's address. Call it in a handler."""
    here, there = _query(st.query_params.to_dict()), _query(to)
    led, page = st.session_state.get(_LED), _page()
    st.query_params.from_dict(to)
    if here != there and page is not None:
        before = {here}
        if led is not None and led.page == page and not led.heard:
            before |= led.before | {_query(led.to)}
        st.session_state[_LED] = _Led(page, frozenset(before - {there}), dict(to), time.monotonic())


def follow() -> None:
    """Call it as a run begins: one that is asked from where the tab has been led away from is of the new place."""
    context, led = get_script_run_ctx(), st.session_state.get(_LED)
    if context is not None and led is not None:
        here = _query(st.query_params.to_dict())
        if led.is_awaited(context.page_script_hash, here, back=context.is_history_navigation):
            st.query_params.from_dict(led.to)


def ask_from_there(session: AppSession, asked: ClientState) -> None:
    """Turn a request from where the tab has been led away from into one from where it was led."""
    try:
        led = session.session_state[_LED]
    except KeyError:
        return
    here = _query(dict(parse_qsl(asked.query_string, keep_blank_values=True)))
    if led.is_awaited(asked.page_script_hash, here, back=asked.is_history_navigation):
        asked.query_string = urlencode(led.to)
    else:
        led.heard = True


def _page() -> str | None:
    context = get_script_run_ctx()
    return context.page_script_hash if context is not None else None


def _query(params: Mapping[str, str]) -> _Query:
    return frozenset(params.items())
