"""The app, whose runs begin late: what is asked for meanwhile is taken together, as on a busy machine."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequest, ScriptRequests

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT))

from app import MIDDLEWARE, ROUTES, lifespan  # noqa: E402 - the line above makes it importable

LATE = 0.25
_ready = ScriptRequests.on_scriptrunner_ready


def late(requests: ScriptRequests) -> ScriptRequest:
    time.sleep(LATE)
    return _ready(requests)


type.__setattr__(ScriptRequests, "on_scriptrunner_ready", late)
app = st.App(CHECKOUT / "pages/shell.py", routes=ROUTES, middleware=MIDDLEWARE, lifespan=lifespan)
