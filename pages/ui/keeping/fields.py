"""Fields other than the composer whose text the browser keeps (fields.js)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from pages.ui.workspace import workspace_id


@contextmanager
def kept_fields(*of: object) -> Iterator[None]:
    """A box whose fields the browser keeps until a press of one of its buttons has taken them away or changed them.

    `of` names what is written about, such as a conversation and what is done with it, so that nothing comes back into a
    field of something else; once on a page. No passwords are kept.
    """
    named = "/".join((workspace_id(), *map(str, of)))
    with st.container(key=f"kept-{hashlib.blake2b(named.encode(), digest_size=12).hexdigest()}"):
        yield
