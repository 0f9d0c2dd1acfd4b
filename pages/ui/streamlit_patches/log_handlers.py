"""Loggers of Streamlit that are made later write through the handler of the process, too.

Streamlit gives each of its loggers a handler with a form of its own. `set_up_logging` takes those away that exist
when the server starts; modules that are imported later would bring theirs, so that one line in a log of JSON objects
is no JSON. What they log is safe in any case (forky_core/process/log_setup.py).
"""

from __future__ import annotations

from forky_core.process.log_setup import take_over
from pages.ui.streamlit_patches.patch import part


def apply() -> None:
    """Have Streamlit give a new logger the handler of the process in place of one of its own."""
    part("streamlit.logger:").setup_formatter = take_over
