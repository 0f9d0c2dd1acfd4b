"""A handler runs to its end before the next request is looked at.

Streamlit interrupts a run when another request comes, at the next place where the run uses its session: also inside a
handler, or just before one, so that the press is done by half or not at all. With `runner.fastReruns` the next run
even begins in a thread of its own while the handler is still running: it draws what the handler has not done yet, and
what the handler's run sends afterwards is thrown away. Forky's configuration therefore switches fast reruns off, and
this patch restores what is good about them: a request waits for the handlers of the run before it and interrupts only
its drawing.

A request for another page also waits for the handlers of a press that has not begun yet. Streamlit would merge the two
into one run, of the other page, and forget the handlers of the page that is left before it calls any.
"""

from __future__ import annotations

import threading
from functools import wraps
from typing import TYPE_CHECKING, Any

from pages.ui.streamlit_patches.fragment_requests import is_pressed
from pages.ui.streamlit_patches.patch import part

if TYPE_CHECKING:
    from streamlit.runtime.scriptrunner import RerunData, ScriptRunner
    from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
    from streamlit.runtime.state import SafeSessionState

_DRAWN = "forky_drawn"
"""Attribute of a run's requests: the request whose handlers are done and whose page is being drawn."""
_HELD = "forky_held"
"""Attribute of a run's requests: those that wait for the handlers of a press that waits itself, merged into one."""
_STATES = "streamlit.runtime.scriptrunner_utils.script_requests:ScriptRequestType"


def apply() -> None:
    """Have the three steps of a run (request, handlers, giving way) keep this order. Needs `runner.fastReruns` off."""
    state_class = part("streamlit.runtime.state:SafeSessionState")
    runner_class = part("streamlit.runtime.scriptrunner:ScriptRunner")
    script_context = part("streamlit.runtime.scriptrunner:get_script_run_ctx")
    handle, request = state_class.on_script_will_rerun, runner_class.request_rerun
    give_way = runner_class._maybe_handle_execution_control_request
    handling = threading.local()

    @wraps(handle)
    def handle_all(state: SafeSessionState, *given: Any, **named: Any) -> None:
        context = script_context()
        requests = context.script_requests if context is not None else None
        _set_drawn(requests, drawn=False)
        handling.now = True
        try:
            handle(state, *given, **named)
        finally:
            handling.now = False
            _release_held(requests)
            _set_drawn(requests, drawn=True)

    @wraps(give_way)
    def give_way_between(runner: ScriptRunner) -> None:
        if not getattr(handling, "now", False):
            give_way(runner)

    @wraps(request)
    def request_after_handlers(runner: ScriptRunner, rerun_data: RerunData) -> bool:
        if not rerun_data.fragment_id and _stop_drawing(runner._requests):
            runner.request_stop()
        elif _hold(runner._requests, rerun_data):
            return True
        taken: bool = request(runner, rerun_data)
        return taken

    state_class.on_script_will_rerun = handle_all
    runner_class._maybe_handle_execution_control_request = give_way_between
    runner_class.request_rerun = request_after_handlers


def _set_drawn(requests: ScriptRequests | None, *, drawn: bool) -> None:
    if requests is None:
        return
    with requests._lock:
        # A request that waits already runs next, whatever is asked for after it.
        is_last = requests._state is part(_STATES).CONTINUE
        setattr(requests, _DRAWN, requests._rerun_data if drawn and is_last else None)


def _stop_drawing(requests: ScriptRequests) -> bool:
    """End a run that has called its handlers and only draws; whether it was one. It takes no further request then."""
    states = part(_STATES)
    with requests._lock:
        drawn = getattr(requests, _DRAWN, None)
        if requests._state is not states.CONTINUE or requests._rerun_data is not drawn:
            return False
        requests._state = states.STOP
    return True


def _hold(requests: ScriptRequests, asked: RerunData) -> bool:
    """Hold a request back that must wait for the handlers of a press on another page; whether it must."""
    with requests._lock:
        held: ScriptRequests | None = getattr(requests, _HELD, None)
        if held is None:
            waiting = requests._rerun_data
            if not _is_press_waiting(requests) or waiting.page_script_hash == asked.page_script_hash:
                return False
            held = type(requests)()
            setattr(requests, _HELD, held)
        return held.request_rerun(asked)


def _release_held(requests: ScriptRequests | None) -> None:
    """Have the requests that were held back run next, unless the press that they wait for still waits."""
    if requests is None:
        return
    with requests._lock:
        held: ScriptRequests | None = getattr(requests, _HELD, None)
        if held is not None and not _is_press_waiting(requests):
            setattr(requests, _HELD, None)
            requests._request_rerun_locked(held._rerun_data)


def _is_press_waiting(requests: ScriptRequests) -> bool:
    waiting = requests._rerun_data.widget_states
    if requests._state is not part(_STATES).RERUN or waiting is None:
        return False
    return any(is_pressed(state) for state in waiting.widgets)
