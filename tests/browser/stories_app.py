"""The app, in which a test prepares its database (apps.py)."""

from __future__ import annotations

import streamlit as st

from app import MIDDLEWARE, lifespan
from tests.browser.apps import SHELL, STORIES

app = st.App(SHELL, routes=STORIES, middleware=MIDDLEWARE, lifespan=lifespan)
