"""Looks the theme up once, and not at the beginning of each run.

Streamlit sends the theme to the browser when a run begins, even that of a fragment. For that it iterates six times over
all of its settings, on the event loop and with the lock that every running script needs.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from pages.ui.streamlit_patches.patch import part

_SESSIONS = "streamlit.runtime.app_session:"


def apply() -> None:
    """Have Streamlit cache each section of the theme until its settings are read again."""
    look_up = part(f"{_SESSIONS}_populate_theme_msg")
    cached: dict[str, Any] = {}

    @wraps(look_up)
    def populate(msg: Any, section: str = "theme") -> None:
        theme = cached.get(section)
        if theme is None:
            theme = type(msg)()
            look_up(theme, section)
            cached[section] = theme
        if theme.ByteSize():  # Merging an empty theme would tell the browser that there is one.
            msg.MergeFrom(theme)

    part(_SESSIONS)._populate_theme_msg = populate
    part("streamlit.config:on_config_parsed")(cached.clear, force_connect=True)
