"""The app whose History page fails, with all that was said in the words of its error."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import streamlit as st

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT))

from app import MIDDLEWARE, ROUTES, lifespan  # noqa: E402 - the line above makes it importable
from forky_core.views import log  # noqa: E402
from pages.ui.observability.failures import show_incident  # noqa: E402


def fails(*operations: Any, **_: Any) -> None:
    raise RuntimeError(f"Cannot draw {operations}")


vars(log)["log_page"] = fails
app = st.App(
    CHECKOUT / "pages/shell.py",
    routes=ROUTES,
    middleware=MIDDLEWARE,
    lifespan=lifespan,
    on_script_error=show_incident,
)
