"""The frame around every page: its title, its looks, its navigation. The pages do the rest."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from forky_core.model.errors import StoreError
from forky_core.scheduling import ahead
from pages.ui.components.error_boundary import show_store_error
from pages.ui.components.style import apply_style
from pages.ui.session import session
from pages.ui.streamlit_patches.favicon import set_icon
from pages.ui.streamlit_patches.flush import flush_style
from pages.ui.streamlit_patches.navigation import follow
from pages.ui.streamlit_patches.warmup import warm_up_in

_PAGES = (
    ("chat.py", "Chat", ":material/account_tree:"),
    ("compare.py", "Compare", ":material/view_column_2:"),
    ("merge.py", "Merge", ":material/merge:"),
    ("library.py", "Library", ":material/library_books:"),
    ("documents.py", "Documents", ":material/description:"),
    ("context.py", "Context", ":material/fact_check:"),
    ("history.py", "History", ":material/history:"),
    ("settings.py", "Settings", ":material/tune:"),
)
_APART = (("bisection.py", "Find where it went wrong", ":material/manage_search:"),)
"""Pages that are reached from another page, not from the navigation."""
_HERE = Path(__file__).resolve().parent


@st.cache_resource(show_spinner=False)
def _begin_warm_up() -> bool:
    warm_up_in(1.0)
    return True


def main() -> None:
    with ahead():
        _run()


def _run() -> None:
    follow()
    st.set_page_config(page_title=session().tab, layout="wide", initial_sidebar_state="auto")
    set_icon()
    apply_style()
    flush_style()
    pages = [
        st.Page(_HERE / file, title=title, icon=icon, default=file == "chat.py")
        for file, title, icon in _PAGES
        if (_HERE / file).exists()
    ] + [st.Page(_HERE / file, title=title, icon=icon, visibility="hidden") for file, title, icon in _APART]
    page = st.navigation(pages, position="top")
    session().page = page.url_path or "chat"
    try:
        page.run()
    except StoreError as error:
        show_store_error(error, "shell.again")
    else:
        _begin_warm_up()


main()
