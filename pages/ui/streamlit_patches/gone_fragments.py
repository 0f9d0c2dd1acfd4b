"""A press in a part of the page that has just been drawn elsewhere is heard, and the whole page drawn.

Streamlit names a fragment after its place on the page. Where another run has put an element before it, the fragment
has another name, and a request that left the browser just before asks for one that is no more: Streamlit drops it, with
the press and whatever was typed. Where the page changes while such a request waits its turn, the handler runs, but
nothing is drawn. Both become a request of the whole page here.
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
    """Have a session take such requests, and a run draw the page where one has waited too long."""
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
        if gone and not _is_clock(rerun_data):
            rerun_data = replace(rerun_data, fragment_id_queue=[], is_fragment_scoped_rerun=False)
        run(runner, rerun_data)

    session_class.request_rerun = request_what_is_there
    runner_class._run_script = run_what_is_there


def _is_clock(asked: RerunData) -> bool:
    """Whether nobody waits for it: a fragment's clock has come, and no press with it."""
    states = asked.widget_states.widgets if asked.widget_states is not None else ()
    return asked.is_auto_rerun and not any(is_pressed(state) for state in states)
