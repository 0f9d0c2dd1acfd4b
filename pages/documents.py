"""Documents: what answers may quote. Drop files, search them, open one at a passage, take one away.

The frame is the workspace and what the tab holds, the view model is the documents of a shelf as the library lists
them, and pages/ui/documents draws it.
"""

from __future__ import annotations

import streamlit as st

from pages.ui.components.links import follow_a_link_opened_beside
from pages.ui.components.lists import apply_list_style
from pages.ui.components.undoing import last_shown, page_top
from pages.ui.documents.panel import draw_documents
from pages.ui.documents.reading import draw_document
from pages.ui.documents.style import apply_document_style
from pages.ui.page import Page
from pages.ui.session import session
from pages.ui.workspace import workspace

PAGE = Page(title="Documents", icon="description", order=50, shown=False, about_conversation=False)
ABOUT = "Texts that answers can quote, with the place that each quotation is from."


def main() -> None:
    follow_a_link_opened_beside()
    forky, tab = workspace(), session()
    apply_list_style()
    apply_document_style()
    chat = last_shown(forky, tab)
    page_top("Documents", forky, tab, chat, names_it=True, about=ABOUT)
    with st.container(key="column-documents"):
        if "d" in st.query_params:
            asked = st.query_params.get("n", "1")
            draw_document(forky, st.query_params["d"], asked, of=st.query_params.get("of", ""))
            return
        draw_documents(forky, tab, chat)


main()
