"""The app whose History page fails, with all that was said in the words of its error."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app import MIDDLEWARE, ROUTES, lifespan
from forky_core.views import log
from pages.ui.observability.failures import show_incident
from tests.browser.apps import SHELL


def fails(*operations: Any, **_: Any) -> None:
    raise RuntimeError(f"Cannot draw {operations}")


vars(log)["log_page"] = fails
app = st.App(
    SHELL,
    routes=ROUTES,
    middleware=MIDDLEWARE,
    lifespan=lifespan,
    on_script_error=show_incident,
)
