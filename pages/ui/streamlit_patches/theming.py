"""What the theme is, is looked up once.

Streamlit tells it to the browser at the begin of every run, also of a fragment's. For that it goes six times through
all of its settings, on the event loop and with the lock held that every running script asks for.
"""

from __future__ import annotations

from typing import Any

from streamlit import config
from streamlit.runtime import app_session

_NAME = "_populate_theme_msg"


def keep_theme() -> None:
    """Once, before the first session; a changed file of settings counts.

    A Streamlit that does it otherwise is left alone.
    """
    look_up = getattr(app_session, _NAME, None)
    if look_up is None:
        return
    kept: dict[str, Any] = {}

    def tell(message: Any, section: str = "theme") -> None:
        found = kept.get(section)
        if found is None:
            found = type(message)()
            look_up(found, section)
            kept[section] = found
        if found.ByteSize():  # Else the browser would be told of a theme that says nothing.
            message.MergeFrom(found)

    setattr(app_session, _NAME, tell)
    config.on_config_parsed(kept.clear, force_connect=True)
