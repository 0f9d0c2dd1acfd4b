"""Sets the icon of every page to the one that app.py serves.

Otherwise the browser would load the icon of the navigation from another server. Streamlit's `page_icon` can set it,
too, but imports numpy and Pillow first.
"""

from __future__ import annotations

import streamlit as st

from pages.ui.streamlit_patches.patch import part
from pages.ui.streamlit_patches.patches import is_on

ICON = "./favicon.png"


def set_icon() -> None:
    """Set the page's icon. Call it once a run, after `st.set_page_config`."""
    if not is_on("favicon"):
        st.set_page_config(page_icon=ICON)
        return
    context = part("streamlit.runtime.scriptrunner:get_script_run_ctx")()
    if context is not None:
        message = part("streamlit.proto.ForwardMsg_pb2:ForwardMsg")()
        message.page_config_changed.favicon = ICON
        context.enqueue(message)
