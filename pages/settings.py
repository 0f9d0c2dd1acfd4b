"""Settings: which models can be asked and what is missing for the others, which programs may ask them through `/v1`,
and where the conversations are kept.

A key that is typed here goes to the catalogue's memory and nowhere else: not to the database, the address, a log, or
back to a page.

The frame is the workspace and what the tab holds, the view model is the models, tokens, links and files as the
library lists them, and pages/ui/settings draws it.
"""

from __future__ import annotations

import streamlit as st

from forky_core.llm.catalogue import Catalogue
from pages.ui.chat.people import draw_me
from pages.ui.chat.starters import tour_button
from pages.ui.components.lists import apply_list_style
from pages.ui.components.undoing import last_shown, page_top
from pages.ui.page import Page
from pages.ui.people.no_longer_used import draw_no_longer_used
from pages.ui.person import viewer
from pages.ui.session import session
from pages.ui.settings.about import draw_about
from pages.ui.settings.access import draw_access
from pages.ui.settings.links import draw_links_of_server
from pages.ui.settings.providers import draw_default, draw_keyed, draw_servers, draw_verifier
from pages.ui.settings.storage import draw_storage
from pages.ui.settings.tokens import draw_tokens
from pages.ui.workspace import whole_workspace, workspace

PAGE = Page(title="Settings", icon="tune", order=80, section="You", about_conversation=False)
ABOUT = "Which models answer, which programs may ask them, and where everything is kept."


def main() -> None:
    forky, tab = workspace(), session()
    apply_list_style()
    page_top("Settings", forky, tab, last_shown(forky, tab), names_it=True, about=ABOUT)
    with st.container(key="column-settings", gap="medium"):
        draw_no_longer_used()
        who = viewer()
        owns = who.may("operate")
        if not owns:
            st.caption("The owners of this workspace decide about models, keys, servers and storage.")
        elif isinstance(models := whole_workspace().models, Catalogue):
            draw_default(forky, models, tab)
            draw_verifier(forky, models)
            draw_keyed(models, tab)
            draw_servers(forky, models, tab)
        if who.may("begin"):
            st.markdown("## Tour")
            st.caption(
                "Four things to do in the example: ask on a branch, bring it back, undo, look at an experiment. "
                "It can be left at any time."
            )
            tour_button(forky, tab, key="settings.tour")
        if who.alone:
            st.markdown("## You")
            st.caption("Where several people share a conversation, your name stands on what you say.")
            draw_me(tab)
        draw_access()
        draw_tokens(tab)
        draw_links_of_server(forky)
        if owns:
            draw_storage(forky, whole_workspace())
        draw_about()


main()
