"""Makes Streamlit's loggers that are created later write through the handler of the process.

Streamlit gives each of its loggers a handler with its own format. `set_up_logging` removes those that exist when the
server starts; modules that are imported later would add theirs, so that a log of JSON objects would have lines that are
not JSON. What they log is sanitised in any case (forky_core/process/log_setup.py).
"""

from __future__ import annotations

from forky_core.process.log_setup import take_over
from pages.ui.streamlit_patches.patch import part


def apply() -> None:
    """Have Streamlit give a new logger the handler of the process and not one of its own."""
    part("streamlit.logger:").setup_formatter = take_over
