"""Buttons that stand in rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st


def quiet_button(
    label: str, key: str, icon: str, act: Callable[..., None], *values: Any, **named: Any
) -> None:
    """Draw a button without a frame that has `act` called with these values; `named` is handed on to Streamlit."""
    st.button(label, key=key, type="tertiary", icon=icon, on_click=act, args=values, **named)
