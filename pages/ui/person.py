"""Who sits at this browser and what they chose for it, kept in cookies, so that a reload or a new tab knows it.

The name is no proof of anything: whoever opens the page may give any. The browser writes the cookie
(ui/streamlit_patches/browser_fixes.py) and sends it when a tab is opened; it is read once, and looked at like
anything that is typed.
"""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import unquote

import streamlit as st

from forky_core.model.errors import ForkyError
from forky_core.model.room import fit_name
from pages.ui.sign_in import team

COOKIE = "forky_person"
OPENER = "forky_opener"
"""The cookie with the secret of the browser that opened polls (ui/vote/opener.py)."""


def names_themselves() -> bool:
    """Whether readers say who they are; those of a team have signed in as themselves."""
    return team() is None


def kept_person() -> str | None:
    """The name this browser kept; None where there is none that fits, or a team signs in."""
    if not names_themselves():
        return None
    with suppress(ForkyError):
        return fit_name(cookie(COOKIE)) or None
    return None


def cookie(name: str) -> str:
    """What this browser kept under the name; "" where it kept nothing."""
    value: object = st.context.cookies.get(name)
    return unquote(value) if isinstance(value, str) else ""
