"""The app with the patience of a test: a model that falls silent is given up after two seconds."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT))

from app import ROUTES, policy  # noqa: E402 - the line above makes it importable
from forky_core.gateway.headers import SecurityHeaders  # noqa: E402
from forky_core.llm import litellm_model  # noqa: E402
from forky_core.llm.litellm_model import Patience  # noqa: E402

vars(litellm_model)["Patience"] = partial(Patience, gap=2.0)
app = st.App(
    CHECKOUT / "pages/shell.py", routes=ROUTES, middleware=[Middleware(SecurityHeaders, policy=policy())]
)
