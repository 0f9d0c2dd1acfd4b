"""Keeps a text that the program writes into a field, although the browser still sends the old one for a moment.

A request that left the browser before it received the new text contains the old one. Streamlit takes that for typed
text, so that a draft that was sent or stashed would come back into its field. With this patch the server replaces the
old text by the new one until the browser has sent another text, and sends the new text again when the field is drawn.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.ui.streamlit_patches.patch import part
from pages.ui.streamlit_patches.patches import is_on

if TYPE_CHECKING:
    from streamlit.proto.WidgetStates_pb2 import WidgetStates
    from streamlit.runtime.state import SafeSessionState

_FILLED = "field_updates.filled"
_ON_ITS_WAY = 3.0
"""Seconds within which a browser receives a new text. After that the old text counts as typed again on purpose."""


@dataclass(slots=True)
class _Filled:
    """One text that the program wrote into a field."""

    before: frozenset[str]
    """The texts that the field may still have in the browser."""
    text: str
    at: float
    confirmed: bool = False
    """Whether the browser has sent another text than those before."""

    @property
    def is_awaited(self) -> bool:
        return not self.confirmed and time.monotonic() - self.at <= _ON_ITS_WAY


def fill(key: str, text: str) -> None:
    """Write a text into the field of this key. Call it in a handler, or before the field is drawn."""
    old, one = str(st.session_state.get(key) or ""), _filled(st.session_state).get(key)
    before = {old} if one is None or not one.is_awaited else {old, one.text, *one.before}
    st.session_state[key] = text
    if before != {text} and is_on("field_updates"):
        filled = _Filled(frozenset(before - {text}), text, time.monotonic())
        st.session_state[_FILLED] = {**_filled(st.session_state), key: filled}


def refill(key: str) -> None:
    """Send the text of a field to the browser once more, because the run that sent it may have been interrupted.

    Call it before the field is drawn.
    """
    one = _filled(st.session_state).get(key)
    if one is not None and one.is_awaited and st.session_state.get(key) == one.text:
        st.session_state[key] = one.text


def apply() -> None:
    """Have `SafeSessionState` replace the old text of a field by the new one."""
    state_class = part("streamlit.runtime.state:SafeSessionState")
    handle = state_class.on_script_will_rerun

    @wraps(handle)
    def handle_filled(safe: SafeSessionState, states: WidgetStates | None, **named: Any) -> None:
        if states is not None:
            _replace_old_texts(_filled(safe._state), states)
        handle(safe, states, **named)

    state_class.on_script_will_rerun = handle_filled


def _replace_old_texts(filled: Mapping[str, _Filled], states: WidgetStates) -> None:
    for key, one in filled.items():
        for state in states.widgets:
            if not state.id.endswith(f"-{key}"):
                continue
            if one.is_awaited and state.string_value in one.before:
                state.string_value = one.text
            else:
                one.confirmed = True


def _filled(state: Any) -> Mapping[str, _Filled]:
    """Return the texts that the program wrote into fields, by the key of the field."""
    return state[_FILLED] if _FILLED in state else {}  # noqa: SIM401 - Streamlit's own has no get
