"""Reads Streamlit's options without its lock.

A run of a page reads options some thousand times, each time under one lock of the whole process. While several people's
pages run at once, the interpreter often switches away from the thread that has the lock; all other threads then wait
for it, one after the other. So a page that takes 0.1 s alone took many seconds with nine others, on a machine that was
not busy. Reading needs no lock: it is one access to a dict, whose values are replaced as a whole.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from pages.ui.streamlit_patches.patch import part


def apply() -> None:
    """Have `streamlit.config.get_option` read options directly; only those that are not loaded yet take the lock."""
    config = part("streamlit.config:")
    locked = config.get_option

    @wraps(locked)
    def get_option(key: str) -> Any:
        options = config._config_options
        option = options.get(key) if options else None
        return option.value if option is not None else locked(key)

    config.get_option = get_option
