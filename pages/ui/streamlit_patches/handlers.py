"""Lets a handler run to its end before the next request is handled.

Streamlit interrupts a run when another request comes, at the next place where the run uses its session: even inside a
handler, or just before one, so that the press has only half of its effect or none. With `runner.fastReruns` the next
run even begins in another thread while the handler is still running: it draws the state before the handler's changes,
and everything that the handler's run sends afterwards is dropped. Forky's configuration therefore switches fast reruns
off, and this patch restores their advantage: a request waits for the handlers of the run before it and interrupts only
the drawing.

A request for another page also waits for the handlers of a press that is still waiting itself. Streamlit would merge
the two into one run of the other page, and forget the handlers of the first page without calling them.
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
"""An attribute of a run's requests: the request whose handlers are done and whose page is being drawn."""
_DEFERRED = "forky_held"
"""An attribute of a run's requests: the deferred ones, merged into one, which wait for a press that waits itself."""
_STATES = "streamlit.runtime.scriptrunner_utils.script_requests:ScriptRequestType"


def apply() -> None:
    """Patch the three steps of a run: request, handlers, interruption. `runner.fastReruns` must be off."""
    state_class = part("streamlit.runtime.state:SafeSessionState")
    runner_class = part("streamlit.runtime.scriptrunner:ScriptRunner")
    script_context = part("streamlit.runtime.scriptrunner:get_script_run_ctx")
    handle, request = state_class.on_script_will_rerun, runner_class.request_rerun
    interrupt = runner_class._maybe_handle_execution_control_request
    handling = threading.local()

    @wraps(handle)
    def handle_all(state: SafeSessionState, *arguments: Any, **named: Any) -> None:
        context = script_context()
        requests = context.script_requests if context is not None else None
        _set_drawn(requests, drawn=False)
        handling.now = True
        try:
            handle(state, *arguments, **named)
        finally:
            handling.now = False
            _release_deferred(requests)
            _set_drawn(requests, drawn=True)

    @wraps(interrupt)
    def interrupt_outside_of_handlers(runner: ScriptRunner) -> None:
        if not getattr(handling, "now", False):
            interrupt(runner)

    @wraps(request)
    def request_after_handlers(runner: ScriptRunner, rerun_data: RerunData) -> bool:
        if not rerun_data.fragment_id and _stop_drawing(runner._requests):
            runner.request_stop()
        elif _defer(runner._requests, rerun_data):
            return True
        accepted: bool = request(runner, rerun_data)
        return accepted

    state_class.on_script_will_rerun = handle_all
    runner_class._maybe_handle_execution_control_request = interrupt_outside_of_handlers
    runner_class.request_rerun = request_after_handlers


def _set_drawn(requests: ScriptRequests | None, *, drawn: bool) -> None:
    if requests is None:
        return
    with requests._lock:
        # If a request waits already, it runs next, so this one is not being drawn.
        is_last = requests._state is part(_STATES).CONTINUE
        setattr(requests, _DRAWN, requests._rerun_data if drawn and is_last else None)


def _stop_drawing(requests: ScriptRequests) -> bool:
    """Stop a run that only draws, and return whether it did so. The run then accepts no further request."""
    states = part(_STATES)
    with requests._lock:
        drawn = getattr(requests, _DRAWN, None)
        if requests._state is not states.CONTINUE or requests._rerun_data is not drawn:
            return False
        requests._state = states.STOP
    return True


def _defer(requests: ScriptRequests, asked: RerunData) -> bool:
    """Defer a request if it must wait for the handlers of a press on another page, and return whether it must."""
    with requests._lock:
        deferred: ScriptRequests | None = getattr(requests, _DEFERRED, None)
        if deferred is None:
            waiting = requests._rerun_data
            if not _is_press_waiting(requests) or waiting.page_script_hash == asked.page_script_hash:
                return False
            deferred = type(requests)()
            setattr(requests, _DEFERRED, deferred)
        return deferred.request_rerun(asked)


def _release_deferred(requests: ScriptRequests | None) -> None:
    """Run the deferred requests next, unless the press that they wait for still waits."""
    if requests is None:
        return
    with requests._lock:
        deferred: ScriptRequests | None = getattr(requests, _DEFERRED, None)
        if deferred is not None and not _is_press_waiting(requests):
            setattr(requests, _DEFERRED, None)
            requests._request_rerun_locked(deferred._rerun_data)


def _is_press_waiting(requests: ScriptRequests) -> bool:
    waiting = requests._rerun_data.widget_states
    if requests._state is not part(_STATES).RERUN or waiting is None:
        return False
    return any(is_pressed(state) for state in waiting.widgets)
