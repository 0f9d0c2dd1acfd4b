"""What a run has drawn last reaches the browser, also where a part of the page is asked for as the run ends.

A run hands what it draws to the event loop and ends. Until the loop has come to all of that, a busy server seconds
later, a request of a fragment finds a run that takes no more requests, and Streamlit begins another: from then on the
loop throws away what the first one has left there, of which the page is missing that part and never ends loading.
Here, such a request waits until the run before it has been heard to its end.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING

from pages.ui.streamlit_patches.patch import part

if TYPE_CHECKING:
    from streamlit.runtime.app_session import AppSession
    from streamlit.runtime.scriptrunner import RerunData

_LOOK_AGAIN = 0.005
"""Seconds."""


def apply() -> None:
    """Have `AppSession._create_scriptrunner` wait before the run of a fragment."""
    session_class = part("streamlit.runtime.app_session:AppSession")
    create = session_class._create_scriptrunner

    @wraps(create)
    def create_after_the_last(session: AppSession, initial_rerun_data: RerunData) -> None:
        is_part = bool(initial_rerun_data.fragment_id or initial_rerun_data.fragment_id_queue)
        if is_part and session._scriptrunner is not None:
            session._event_loop.call_later(_LOOK_AGAIN, _ask_again, session, initial_rerun_data)
        else:
            create(session, initial_rerun_data)

    session_class._create_scriptrunner = create_after_the_last


def _ask_again(session: AppSession, asked: RerunData) -> None:
    if session._state is part("streamlit.runtime.app_session:AppSessionState").SHUTDOWN_REQUESTED:
        return
    runner = session._scriptrunner
    if runner is None or not runner.request_rerun(asked):
        session._create_scriptrunner(asked)
