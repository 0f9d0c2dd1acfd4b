"""What the program writes into a field, also for a browser that has not heard of it.

A request that leaves before brings along what the field held: it would be taken for what somebody typed, and a draft
that was sent or stashed would stand there again. So until the browser has been heard with another text, the old one is
read as the new one, and the new one is said again when the field is drawn.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any

import streamlit as st
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.state import SafeSessionState

_HANDLE = "on_script_will_rerun"
_FILLED = "hearing.filled"
_ON_ITS_WAY = 3.0
"""Seconds that a browser may need to hear of a new text. Somebody may type the old one again, and mean it."""


@dataclass(slots=True)
class _Filled:
    """What a field was made to hold."""

    before: frozenset[str]
    """What it may hold in the browser still."""
    text: str
    at: float
    heard: bool = False

    @property
    def is_awaited(self) -> bool:
        return not self.heard and time.monotonic() - self.at <= _ON_ITS_WAY


def fill(key: str, text: str) -> None:
    """Have the field of this key hold a text. Call it in a handler, or before the field is drawn."""
    held, one = str(st.session_state.get(key) or ""), _filled(st.session_state).get(key)
    before = {held} if one is None or not one.is_awaited else {held, one.text, *one.before}
    st.session_state[key] = text
    if before != {text}:
        filled = _Filled(frozenset(before - {text}), text, time.monotonic())
        st.session_state[_FILLED] = {**_filled(st.session_state), key: filled}


def refill(key: str) -> None:
    """Call it before the field of this key is drawn: a run that was to say what it holds may have been broken off."""
    one = _filled(st.session_state).get(key)
    if one is not None and one.is_awaited and st.session_state.get(key) == one.text:
        st.session_state[key] = one.text


def keep_what_was_filled() -> None:
    """Once. A Streamlit that does it otherwise is left alone."""
    handle = getattr(SafeSessionState, _HANDLE, None)
    if handle is None:
        return

    @wraps(handle)
    def handle_filled(safe: SafeSessionState, came: WidgetStates | None, **named: Any) -> None:
        if came is not None:
            _read_anew(_filled(safe._state), came)
        handle(safe, came, **named)

    setattr(SafeSessionState, _HANDLE, handle_filled)


def _read_anew(filled: Mapping[str, _Filled], came: WidgetStates) -> None:
    for key, one in filled.items():
        for state in came.widgets:
            if not state.id.endswith(f"-{key}"):
                continue
            if one.is_awaited and state.string_value in one.before:
                state.string_value = one.text
            else:
                one.heard = True


def _filled(state: Any) -> Mapping[str, _Filled]:
    """By the key of the field."""
    return state[_FILLED] if _FILLED in state else {}  # noqa: SIM401 - Streamlit's own has no get
