"""The app, whose runs begin late: what is asked for meanwhile is taken together, as on a busy machine."""

from __future__ import annotations

import time

import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequest, ScriptRequests

from app import MIDDLEWARE, ROUTES, lifespan
from tests.browser.apps import SHELL

LATE = 0.25
_ready = ScriptRequests.on_scriptrunner_ready


def late(requests: ScriptRequests) -> ScriptRequest:
    time.sleep(LATE)
    return _ready(requests)


type.__setattr__(ScriptRequests, "on_scriptrunner_ready", late)
app = st.App(SHELL, routes=ROUTES, middleware=MIDDLEWARE, lifespan=lifespan)
