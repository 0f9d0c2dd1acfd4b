"""The app with the patience of a test: a model that falls silent is given up after two seconds."""

from __future__ import annotations

from functools import partial

import streamlit as st
from starlette.middleware import Middleware

from app import ROUTES, policy
from forky_core.gateway.headers import SecurityHeaders
from forky_core.llm import litellm_model
from forky_core.llm.litellm_model import Patience
from tests.browser.apps import SHELL

vars(litellm_model)["Patience"] = partial(Patience, gap=2.0)
app = st.App(SHELL, routes=ROUTES, middleware=[Middleware(SecurityHeaders, policy=policy())])
