"""The theme is looked up once, and not at the beginning of each run.

Streamlit sends the theme to the browser when a run begins, also a fragment's. For that it goes six times through all of
its settings, on the event loop and holding the lock that every running script needs.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from pages.ui.streamlit_patches.patch import part

_SESSIONS = "streamlit.runtime.app_session:"


def apply() -> None:
    """Have Streamlit remember each section of the theme until its settings are read again."""
    look_up = part(f"{_SESSIONS}_populate_theme_msg")
    cached: dict[str, Any] = {}

    @wraps(look_up)
    def populate(msg: Any, section: str = "theme") -> None:
        found = cached.get(section)
        if found is None:
            found = type(msg)()
            look_up(found, section)
            cached[section] = found
        if found.ByteSize():  # Merging an empty theme would tell the browser that there is one.
            msg.MergeFrom(found)

    part(_SESSIONS)._populate_theme_msg = populate
    part("streamlit.config:on_config_parsed")(cached.clear, force_connect=True)
