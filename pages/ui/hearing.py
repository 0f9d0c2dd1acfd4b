"""What somebody presses is heard once, and its page is drawn.

Streamlit's browser collects what happens in one turn of its event loop and sends it as one request: a fragment's where
any of it happened in one. What was pressed elsewhere then runs its handler and is never drawn. And a fragment that runs
by the clock, in that same turn, sends what was pressed along; its own request comes right behind. The handler runs
twice, and the page is drawn at the address that the browser had before the first: the click seems lost.

A request that comes while the one before is at work breaks that off at the next thing it asks of its session. Where
that was a handler, or just before one, half of it was done, or nothing. So handlers run to their end, and then the next
request.

And where a click leads elsewhere, what the browser asks for before it has heard where names the old place. So a handler
that leads somewhere says so, and what is asked from an old place is asked from the new one until the browser has been
heard from there: as it comes in, and as it runs, because it may have come in while the handler was at work.

A double click is one press: its second half comes before anybody can have seen what the first one did, and nobody meant
two forks, or a second stash of the same draft. Of Undo and Redo each press is a step.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any
from urllib.parse import parse_qsl, urlencode

import streamlit as st
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import ScriptRunner, get_script_run_ctx
from streamlit.runtime.state import SafeSessionState, SessionState

_REQUEST = "request_rerun"
_HANDLE = "on_script_will_rerun"
_FINISH = "on_script_finished"
_GIVE_WAY = "_maybe_handle_execution_control_request"
_PRESSED = ("trigger_value", "json_trigger_value", "string_trigger_value", "chat_input_value")
"""Kinds of values that a browser says once and forgets."""
_STEPS = ("-bar.undo", "-bar.redo")
"""Ends of the ids of the buttons of which each press counts."""
_ANSWERED = "hearing.answered"
_UNSEEN = 0.3
"""Seconds from a page that is drawn to one that somebody may have seen."""
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


def hear_once() -> None:
    """Once, before the first session. A Streamlit that does it otherwise is left alone."""
    _mend_requests()
    _let_handlers_end()
    _take_a_double_click_for_one()


def _mend_requests() -> None:
    request = getattr(AppSession, _REQUEST, None)
    if request is None:
        return

    @wraps(request)
    def hear(session: AppSession, asked: ClientState | None) -> None:
        if asked is not None:
            _ask_from_there(session, asked)
        if asked is not None and asked.fragment_id:
            pressed = [state.id for state in asked.widget_states.widgets if _is_pressed(state)]
            if pressed and asked.is_auto_rerun:
                return  # What was pressed is on its way; the clock comes again.
            if any(_is_outside(session, id, asked.fragment_id) for id in pressed):
                asked.fragment_id = ""
        request(session, asked)

    setattr(AppSession, _REQUEST, hear)


def _let_handlers_end() -> None:
    handle = getattr(SafeSessionState, _HANDLE, None)
    give_way = getattr(ScriptRunner, _GIVE_WAY, None)
    if handle is None or give_way is None:
        return
    handling = threading.local()

    @wraps(handle)
    def handle_all(state: SafeSessionState, *given: Any, **named: Any) -> None:
        handling.now = True
        try:
            handle(state, *given, **named)
        finally:
            handling.now = False

    @wraps(give_way)
    def give_way_between(runner: ScriptRunner) -> None:
        if not getattr(handling, "now", False):
            give_way(runner)

    setattr(SafeSessionState, _HANDLE, handle_all)
    setattr(ScriptRunner, _GIVE_WAY, give_way_between)


def _take_a_double_click_for_one() -> None:
    handle = getattr(SafeSessionState, _HANDLE, None)
    finish = getattr(SafeSessionState, _FINISH, None)
    if handle is None or finish is None:
        return

    @wraps(handle)
    def handle_once(safe: SafeSessionState, came: WidgetStates | None, **named: Any) -> None:
        if came is not None:
            _leave_out_answered(safe._state, came)
        handle(safe, came, **named)

    @wraps(finish)
    def finish_and_forget(safe: SafeSessionState, drawn: frozenset[str], **named: Any) -> None:
        finish(safe, drawn, **named)
        if named.get("remove_stale_widgets", True):
            _let_be_seen(safe._state)

    setattr(SafeSessionState, _HANDLE, handle_once)
    setattr(SafeSessionState, _FINISH, finish_and_forget)


def _leave_out_answered(state: SessionState, came: WidgetStates) -> None:
    """A button without a handler is answered by what the page does when it is drawn: its press is never left out."""
    now = time.monotonic()
    answered = {id: until for id, until in _answered(state).items() if now < until}
    pressed = {one.id: one for one in came.widgets if one.trigger_value and not one.id.endswith(_STEPS)}
    for id in answered.keys() & pressed.keys():
        pressed.pop(id).trigger_value = False
    heard = (id for id in pressed if (known := state.get_widget_metadata(id)) and known.callback)
    state[_ANSWERED] = answered | dict.fromkeys(heard, math.inf)


def _let_be_seen(state: SessionState) -> None:
    """The page is drawn, and on its way to the browser."""
    seen = time.monotonic() + _UNSEEN
    state[_ANSWERED] = {id: min(until, seen) for id, until in _answered(state).items()}


def _answered(state: SessionState) -> dict[str, float]:
    """Buttons whose handler ran, and until when another press of each is of one who has not seen it."""
    return state[_ANSWERED] if _ANSWERED in state else {}  # noqa: SIM401 - it has no get


def _ask_from_there(session: AppSession, asked: ClientState) -> None:
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


def _is_pressed(state: WidgetState) -> bool:
    kind = state.WhichOneof("value")
    if kind not in _PRESSED:
        return False
    value: Any = getattr(state, kind)
    return bool(value.ListFields() if hasattr(value, "ListFields") else value)


def _is_outside(session: AppSession, widget: str, fragment: str) -> bool:
    """Whether a run of the fragment would not draw it anew."""
    known = session.session_state.get_widget_metadata(widget)
    return known is not None and known.fragment_id != fragment
