"""Delivers everything that a run has drawn, even if the browser requests a fragment just as the run ends.

A run passes what it draws to the event loop and ends. On a busy server the loop needs seconds to send all of it. If a
request of a fragment comes meanwhile, the ended run cannot take it, and Streamlit begins another run: then the loop
drops the unsent messages of the first one, parts of the page are missing, and it never stops loading. With this patch
the request waits until the loop has processed the first run completely.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING

from pages.ui.streamlit_patches.patch import part

if TYPE_CHECKING:
    from streamlit.runtime.app_session import AppSession
    from streamlit.runtime.scriptrunner import RerunData

_RETRY_AFTER = 0.005
"""Seconds."""


def apply() -> None:
    """Have `AppSession._create_scriptrunner` wait for the run before it if a fragment is requested."""
    session_class = part("streamlit.runtime.app_session:AppSession")
    create = session_class._create_scriptrunner

    @wraps(create)
    def create_after_the_last(session: AppSession, initial_rerun_data: RerunData) -> None:
        is_part = bool(initial_rerun_data.fragment_id or initial_rerun_data.fragment_id_queue)
        if is_part and session._scriptrunner is not None:
            session._event_loop.call_later(_RETRY_AFTER, _retry, session, initial_rerun_data)
        else:
            create(session, initial_rerun_data)

    session_class._create_scriptrunner = create_after_the_last


def _retry(session: AppSession, asked: RerunData) -> None:
    if session._state is part("streamlit.runtime.app_session:AppSessionState").SHUTDOWN_REQUESTED:
        return
    runner = session._scriptrunner
    if runner is None or not runner.request_rerun(asked):
        session._create_scriptrunner(asked)
