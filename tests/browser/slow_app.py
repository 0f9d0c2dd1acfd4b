"""The app with a model that takes its time in place of the offline ones, so that a test can act while it writes."""

from __future__ import annotations

import sys
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT))

from app import policy  # noqa: E402 - the line above makes it importable
from forky_core.gateway.guard import SecurityHeaders  # noqa: E402
from forky_core.llm import catalogue  # noqa: E402
from forky_core.llm.scripted import ScriptedModel, words  # noqa: E402

SAID = " ".join(f"word{number}" for number in range(60))


def slow_models() -> tuple[ScriptedModel, ...]:
    return (ScriptedModel("scripted/slow", answer=lambda _request: words(SAID, 0.05)),)


vars(catalogue)["offline_models"] = slow_models
app = st.App(CHECKOUT / "pages/shell.py", middleware=[Middleware(SecurityHeaders, policy=policy())])
