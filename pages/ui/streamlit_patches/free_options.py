"""Streamlit's options are read without its lock.

A run of a page reads options some thousand times, each time under one lock of the whole process. While several people's
pages run at once, the interpreter often takes its turn away from the thread that holds it; all others then wait for the
lock, one after the other, each for a turn of its own. So a page that takes 0.1 s alone took many seconds with nine
others, on a machine that had time left. Reading needs no lock: it is one look into a dict, whose values are replaced
as a whole.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from pages.ui.streamlit_patches.patch import part


def apply() -> None:
    """Have `streamlit.config.get_option` read what is there; what is not there yet it asks for as before."""
    config = part("streamlit.config:")
    locked = config.get_option

    @wraps(locked)
    def get_option(key: str) -> Any:
        options = config._config_options
        option = options.get(key) if options else None
        return option.value if option is not None else locked(key)

    config.get_option = get_option
