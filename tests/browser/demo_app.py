"""demo_graph.py behind the headers that the real app sends."""

from __future__ import annotations

import sys
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from app import policy  # noqa: E402 - the line above makes it importable
from forky_core.gateway.headers import SecurityHeaders  # noqa: E402
from pages.ui.chat.agraph_page import agraph_route  # noqa: E402

app = st.App(
    HERE / "demo_graph.py",
    routes=[agraph_route()],
    middleware=[Middleware(SecurityHeaders, policy=policy())],
)
