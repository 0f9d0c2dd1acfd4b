"""Handlers run to their end, and then the next request.

A request that comes while the one before is at work breaks that off at the next thing it asks of its session. Where
that was a handler, or just before one, half of it was done, or nothing. And Streamlit's fast reruns begin the next run
at once, in a thread of its own: it drew what the handler had not done yet, and what that one sent afterwards was thrown
away as a former run's. So a request waits for the handlers of the run before it, and breaks its drawing off only.

One that asks for another page waits for the handlers of a press that has not begun yet, too. Streamlit would take both
in one run, of the other page: before any handler it forgets the handlers of the page that was left.
"""

from __future__ import annotations

import threading
from functools import wraps
from typing import Any

from streamlit.runtime.scriptrunner import RerunData, ScriptRunner, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests, ScriptRequestType
from streamlit.runtime.state import SafeSessionState

from pages.ui.streamlit_patches.requests import is_pressed

_HANDLE = "on_script_will_rerun"
_GIVE_WAY = "_maybe_handle_execution_control_request"
_REQUEST = "request_rerun"
_FOLD = "_request_rerun_locked"
_DRAWN = "hearing.drawn"
"""Of a run's requests: the one whose handlers are done, and whose page is being drawn."""
_HELD = "hearing.held"
"""Of a run's requests: those that wait for the handlers of a press that waits itself, taken together."""


def let_handlers_end() -> None:
    """Once, where `runner.fastReruns` is off. A Streamlit that does it otherwise is left alone."""
    handle = getattr(SafeSessionState, _HANDLE, None)
    give_way = getattr(ScriptRunner, _GIVE_WAY, None)
    request = getattr(ScriptRunner, _REQUEST, None)
    if handle is None or give_way is None or request is None or not hasattr(ScriptRequests, _FOLD):
        return
    handling = threading.local()

    @wraps(handle)
    def handle_all(state: SafeSessionState, *given: Any, **named: Any) -> None:
        context = get_script_run_ctx()
        requests = context.script_requests if context is not None else None
        _set_drawn(requests, drawn=False)
        handling.now = True
        try:
            handle(state, *given, **named)
        finally:
            handling.now = False
            _let_go(requests)
            _set_drawn(requests, drawn=True)

    @wraps(give_way)
    def give_way_between(runner: ScriptRunner) -> None:
        if not getattr(handling, "now", False):
            give_way(runner)

    @wraps(request)
    def request_after_handlers(runner: ScriptRunner, asked: RerunData) -> bool:
        if not asked.fragment_id and _stop_drawing(runner._requests):
            runner.request_stop()
        elif _hold(runner._requests, asked):
            return True
        taken: bool = request(runner, asked)
        return taken

    setattr(SafeSessionState, _HANDLE, handle_all)
    setattr(ScriptRunner, _GIVE_WAY, give_way_between)
    setattr(ScriptRunner, _REQUEST, request_after_handlers)


def _set_drawn(requests: ScriptRequests | None, *, drawn: bool) -> None:
    if requests is None:
        return
    with requests._lock:
        # One that waits already is next, whatever is asked for after it.
        is_last = requests._state is ScriptRequestType.CONTINUE
        setattr(requests, _DRAWN, requests._rerun_data if drawn and is_last else None)


def _stop_drawing(requests: ScriptRequests) -> bool:
    """Whether this run only draws: it is over then, as fast reruns would have it, and takes no request."""
    with requests._lock:
        drawn = getattr(requests, _DRAWN, None)
        if requests._state is not ScriptRequestType.CONTINUE or requests._rerun_data is not drawn:
            return False
        requests._state = ScriptRequestType.STOP
    return True


def _hold(requests: ScriptRequests, asked: RerunData) -> bool:
    """Whether this waits for the handlers of a press on another page, which wait themselves."""
    with requests._lock:
        held: ScriptRequests | None = getattr(requests, _HELD, None)
        if held is None:
            waiting = requests._rerun_data
            if not _is_press_waiting(requests) or waiting.page_script_hash == asked.page_script_hash:
                return False
            held = ScriptRequests()
            setattr(requests, _HELD, held)
        return held.request_rerun(asked)


def _let_go(requests: ScriptRequests | None) -> None:
    """Have what was held come next, where its press has been handled."""
    if requests is None:
        return
    with requests._lock:
        held: ScriptRequests | None = getattr(requests, _HELD, None)
        if held is not None and not _is_press_waiting(requests):
            setattr(requests, _HELD, None)
            getattr(requests, _FOLD)(held._rerun_data)


def _is_press_waiting(requests: ScriptRequests) -> bool:
    waiting = requests._rerun_data.widget_states
    if requests._state is not ScriptRequestType.RERUN or waiting is None:
        return False
    return any(is_pressed(state) for state in waiting.widgets)
