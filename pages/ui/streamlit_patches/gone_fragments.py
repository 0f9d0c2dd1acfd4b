"""Handles a press in a fragment that has just moved on the page, and draws the whole page.

Streamlit names a fragment after its place on the page. If another run adds an element before it, the fragment gets
another name, and a request that left the browser just before names a fragment that no longer exists: Streamlit drops
the request, with the press and the typed text. If the page changes while such a request waits, the handler runs, but
nothing is drawn. This patch turns both into a request for the whole page.
"""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any

from pages.ui.streamlit_patches.fragment_requests import is_pressed
from pages.ui.streamlit_patches.patch import part

if TYPE_CHECKING:
    from streamlit.proto.ClientState_pb2 import ClientState
    from streamlit.runtime.app_session import AppSession
    from streamlit.runtime.scriptrunner import RerunData, ScriptRunner


def apply() -> None:
    """Have a session accept such requests, and a run draw the whole page if the fragment is gone when it begins."""
    session_class = part("streamlit.runtime.app_session:AppSession")
    runner_class = part("streamlit.runtime.scriptrunner:ScriptRunner")
    request, run = session_class.request_rerun, runner_class._run_script

    @wraps(request)
    def request_what_is_there(session: AppSession, client_state: ClientState | None) -> Any:
        if (
            client_state is not None
            and client_state.fragment_id
            and not session.has_fragment(client_state.fragment_id)
            and not client_state.is_auto_rerun
        ):
            client_state.fragment_id = ""
        return request(session, client_state)

    @wraps(run)
    def run_what_is_there(runner: ScriptRunner, rerun_data: RerunData) -> None:
        gone = [id for id in rerun_data.fragment_id_queue if not runner._fragment_storage.contains(id)]
        if gone and not _is_timer_alone(rerun_data):
            rerun_data = replace(rerun_data, fragment_id_queue=[], is_fragment_scoped_rerun=False)
        run(runner, rerun_data)

    session_class.request_rerun = request_what_is_there
    runner_class._run_script = run_what_is_there


def _is_timer_alone(asked: RerunData) -> bool:
    """Whether only a fragment's timer asked for a run, without any press."""
    states = asked.widget_states.widgets if asked.widget_states is not None else ()
    return asked.is_auto_rerun and not any(is_pressed(state) for state in states)
