"""Buttons: a press calls `act`, where there is one, with `values`. `icon` names a Material symbol, and `named` is
handed on to Streamlit.

Each returns whether it was pressed for this run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

Act = Callable[..., None] | None


def button(label: str, key: str, act: Act = None, *values: Any, icon: str = "", **named: Any) -> bool:
    """Draw a button with a frame."""
    return st.button(label, key=key, icon=_sign(icon), on_click=act, args=values, **named)


def main_button(label: str, key: str, act: Act = None, *values: Any, **named: Any) -> bool:
    """Draw the button that a page or a dialog is there for."""
    return button(label, key, act, *values, type="primary", **named)


def quiet_button(label: str, key: str, act: Act = None, *values: Any, **named: Any) -> bool:
    """Draw a button without a frame, which stands in a row or is seldom pressed."""
    return button(label, key, act, *values, type="tertiary", **named)


def submit_button(label: str, key: str, act: Act = None, *values: Any, icon: str = "", **named: Any) -> bool:
    """Draw the main button of a form, which sends what was filled in."""
    return st.form_submit_button(
        label, key=key, type="primary", icon=_sign(icon), on_click=act, args=values, **named
    )


def _sign(icon: str) -> str | None:
    return f":material/{icon}:" if icon else None
