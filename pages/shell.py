"""The frame around every page: its title, its looks, its navigation. The pages do the rest."""

from __future__ import annotations

import streamlit as st
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import get_script_run_ctx

from forky_core.model.errors import StoreError
from forky_core.scheduling import ahead
from pages.ui.components.style import apply_style
from pages.ui.components.telling import tell
from pages.ui.registry import front_page, pages
from pages.ui.session import session
from pages.ui.streamlit_patches.leading import follow
from pages.ui.streamlit_patches.pacing import let_style_through
from pages.ui.streamlit_patches.warmup import warm_up_in


@st.cache_resource(show_spinner=False)
def _begin_warm_up() -> bool:
    warm_up_in(1.0)
    return True


def _keep_icon() -> None:
    """Tell the browser that app.py's /favicon.png is the icon of every page.

    Without it the icon of the navigation is loaded from another server; `page_icon` would import numpy and Pillow.
    """
    context = get_script_run_ctx()
    if context is not None:
        message = ForwardMsg()
        message.page_config_changed.favicon = "./favicon.png"
        context.enqueue(message)


def main() -> None:
    with ahead():
        _run()


def _run() -> None:
    follow()
    st.set_page_config(page_title=session().tab, layout="wide", initial_sidebar_state="auto")
    _keep_icon()
    apply_style()
    let_style_through()
    front = front_page()
    listed = [
        st.Page(
            page.script,
            title=page.title,
            icon=f":material/{page.icon}:",
            url_path=page.name,
            default=page is front,
            visibility="visible" if page.shown else "hidden",
        )
        for page in pages()
        if page.script is not None
    ]
    page = st.navigation(listed, position="top")
    try:
        page.run()
    except StoreError as error:
        tell(error, "shell.again")
    else:
        _begin_warm_up()


main()
