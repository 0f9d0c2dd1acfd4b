"""The first element of a process does not look for a Python console.

Streamlit warns people who draw an element in one. To know, it looks up the source of every module on the stack when the
first element is drawn, which takes 0.1 to 0.2 seconds of the first page. `global.showWarningOnDirectExecution` switches
off another warning, and not this look.
"""

from __future__ import annotations

from pages.ui.streamlit_patches.patch import part


def apply() -> None:
    """Have Streamlit believe that it has warned already."""
    part("streamlit.delta_generator:")._use_warning_has_been_displayed = True
