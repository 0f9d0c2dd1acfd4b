"""The frame around every page: its title, its looks, its navigation. The pages do the rest."""

from __future__ import annotations

import streamlit as st

from forky_core.model.errors import LONGEST_SENTENCE, NotAllowed, StoreError
from forky_core.process.scheduling import foreground
from forky_core.views.times import read_in
from pages.ui.components.error_boundary import show_store_error, wait_until_back
from pages.ui.components.markdown import plain_label
from pages.ui.components.reader_zone import reader_zone
from pages.ui.components.sidebar import draw_sidebar
from pages.ui.components.style import apply_style
from pages.ui.frame import follow_open_page
from pages.ui.gone_pages import gone_pages
from pages.ui.made_pages import sections
from pages.ui.registry import front_page, pages
from pages.ui.session import session
from pages.ui.streamlit_patches.favicon import set_icon
from pages.ui.streamlit_patches.navigation import follow
from pages.ui.streamlit_patches.page_links import send_address
from pages.ui.streamlit_patches.theme_switch import draw_theme_switch
from pages.ui.streamlit_patches.warmup import warm_up_in


@st.cache_resource(show_spinner=False)
def _begin_warm_up() -> bool:
    warm_up_in(1.0)
    return True


def main() -> None:
    read_in(reader_zone)
    with foreground():
        _run()


def _run() -> None:
    follow()
    send_address()
    st.set_page_config(page_title=session().browser_title, layout="wide", initial_sidebar_state="auto")
    set_icon()
    apply_style()
    front = front_page()
    everything = pages()
    draw_theme_switch(page.name for page in everything if page is not front)
    listed = sections(everything)
    listed[""] += gone_pages()
    page = st.navigation(listed, position="top")
    follow_open_page()
    if session().page != (name := page.url_path or front.name):
        session().page, session().visit = name, {}
    waited = wait_until_back()
    try:
        draw_sidebar()  # First, since the page is as wide as what is left of the window.
        page.run()
    except StoreError as error:
        show_store_error(error, "shell.again")
    except NotAllowed as error:
        st.error(plain_label(str(error), LONGEST_SENTENCE), icon=":material/lock:")
    else:
        _begin_warm_up()
        session().drawn = True
        if waited:
            st.rerun()  # The sentence goes.


main()
