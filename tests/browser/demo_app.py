"""demo_graph.py behind the headers that the real app sends."""

from __future__ import annotations

import streamlit as st
from starlette.middleware import Middleware

from app import policy
from forky_core.gateway.headers import SecurityHeaders
from pages.ui.chat.agraph_page import agraph_route

app = st.App(
    "demo_graph.py",
    routes=[agraph_route()],
    middleware=[Middleware(SecurityHeaders, policy=policy())],
)
