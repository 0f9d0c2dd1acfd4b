"""A page behind the gate of a team that draws what Streamlit says of its reader."""

from __future__ import annotations

import streamlit as st
from starlette.middleware import Middleware

from forky_core.gateway.access.gate import Gate
from pages.ui.sign_in import SIGN_IN

app = st.App(
    "user_page.py",
    middleware=[Middleware(Gate, sign_in=SIGN_IN, public=("/_stcore/health",))],
)
