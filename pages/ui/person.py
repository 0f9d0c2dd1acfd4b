"""Who sits at this browser: a name they gave, kept in a cookie of their own, so that a reload or a new tab knows it.

The name is no proof of anything: whoever opens the page may give any. The browser writes the cookie (ui/mending.py) and
sends it when a tab is opened; it is read once, and looked at like anything that is typed.
"""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import unquote

import streamlit as st

from forky_core.errors import ForkyError
from forky_core.room import fit_name

COOKIE = "forky_person"


def kept_person() -> str | None:
    """The name this browser kept; None where there is none that fits."""
    with suppress(ForkyError):
        return fit_name(unquote(st.context.cookies.get(COOKIE, ""))) or None
    return None
