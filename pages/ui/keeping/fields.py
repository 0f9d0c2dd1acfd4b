"""Fields other than the composer whose text the browser stores while it is typed (fields.js)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from pages.ui.workspace import workspace_id


@contextmanager
def kept_fields(*of: object) -> Iterator[None]:
    """Draw a container whose fields the browser stores until a press of one of its buttons removes or changes them.

    `of` says what the fields are about, such as a conversation and an action, so that no text comes back into a field
    about something else. Use each `of` once on a page. Passwords are not stored.
    """
    named = "/".join((workspace_id(), *map(str, of)))
    with st.container(key=f"kept-{hashlib.blake2b(named.encode(), digest_size=12).hexdigest()}"):
        yield
