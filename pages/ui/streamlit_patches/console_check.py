"""Skips Streamlit's check for a Python console at the first element.

Streamlit warns people who draw an element in a console. For that it looks up the source of every module on the stack
when the first element is drawn, which takes 0.1 to 0.2 seconds of the first page.
`global.showWarningOnDirectExecution` switches off another warning, and not this check.
"""

from __future__ import annotations

from pages.ui.streamlit_patches.patch import part


def apply() -> None:
    """Set the flag by which Streamlit remembers that it has warned."""
    part("streamlit.delta_generator:")._use_warning_has_been_displayed = True
