"""A text that the program writes into a field stays there, although the browser still sends the old one for a moment.

A request that left the browser before it heard of the new text brings the old one along. Streamlit takes that for what
somebody typed, so that a draft that was sent or stashed would stand in its field again. With this patch the old text is
read as the new one until the browser has sent another, and the new text is sent once more when the field is drawn.
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
"""Seconds that a browser may need to hear of a new text. Later the old text counts as typed again, on purpose."""


@dataclass(slots=True)
class _Filled:
    """One text that the program wrote into a field."""

    before: frozenset[str]
    """The texts that the field may still hold in the browser."""
    text: str
    at: float
    heard: bool = False
    """Whether the browser has sent another text since."""

    @property
    def is_awaited(self) -> bool:
        return not self.heard and time.monotonic() - self.at <= _ON_ITS_WAY


def fill(key: str, text: str) -> None:
    """Have the field of this key hold a text. Call it in a handler, or before the field is drawn."""
    held, one = str(st.session_state.get(key) or ""), _filled(st.session_state).get(key)
    before = {held} if one is None or not one.is_awaited else {held, one.text, *one.before}
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
    """Have `SafeSessionState` read the old text of a field as the new one."""
    state_class = part("streamlit.runtime.state:SafeSessionState")
    handle = state_class.on_script_will_rerun

    @wraps(handle)
    def handle_filled(safe: SafeSessionState, came: WidgetStates | None, **named: Any) -> None:
        if came is not None:
            _replace_old_texts(_filled(safe._state), came)
        handle(safe, came, **named)

    state_class.on_script_will_rerun = handle_filled


def _replace_old_texts(filled: Mapping[str, _Filled], came: WidgetStates) -> None:
    for key, one in filled.items():
        for state in came.widgets:
            if not state.id.endswith(f"-{key}"):
                continue
            if one.is_awaited and state.string_value in one.before:
                state.string_value = one.text
            else:
                one.heard = True


def _filled(state: Any) -> Mapping[str, _Filled]:
    """What the program wrote into fields, by the key of the field."""
    return state[_FILLED] if _FILLED in state else {}  # noqa: SIM401 - Streamlit's own has no get
