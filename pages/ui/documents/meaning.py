"""The option to find documents by their meaning too: an embedding model, and what it has not read yet."""

from __future__ import annotations

from threading import Event

import streamlit as st

from forky_core.conversation.document_places import EMBEDDING
from forky_core.conversation.workspace import Workspace
from forky_core.documents.adding import Added, Tell
from forky_core.documents.intake import Intake
from forky_core.documents.shelf import DocumentShelf
from forky_core.views.shelf import count
from pages.ui.components.buttons import button
from pages.ui.frame import saying
from pages.ui.person import viewer
from pages.ui.session import TabSession


def draw_meaning(forky: Workspace, tab: TabSession, store: DocumentShelf) -> None:
    """Drawn for whoever may choose it. Keys: `documents.embedding`, `documents.embed`, `documents.embed_anew`."""
    if not viewer().may("operate"):
        return
    chosen = forky.store.setting(EMBEDDING) or ""
    with st.expander("Find by meaning too", icon=":material/scatter_plot:"):
        st.caption(
            "Documents are found by their words, without a model. An embedding model also finds what says the same in other "
            "words; each passage is sent to it once, which costs what its provider asks. Both rankings are joined."
        )
        st.text_input(
            "Embedding model",
            chosen,
            key="documents.embedding",
            placeholder="none: by words alone (openai/text-embedding-3-small …)",
            on_change=_choose,
            args=(forky, tab),
        )
        if chosen and tab.intake is None:
            with st.container(horizontal=True):
                button("Read what is new", "documents.embed", _embed, tab, store, False)
                st.button(
                    "Read everything again",
                    key="documents.embed_anew",
                    type="tertiary",
                    help="After the model has changed",
                    on_click=_embed,
                    args=(tab, store, True),
                )


def _choose(forky: Workspace, tab: TabSession) -> None:
    name = str(st.session_state["documents.embedding"]).strip() or None
    with saying(tab):
        forky.choose_embedding(name)
        tab.say(
            f"Documents are found with {name} too." if name else "Documents are found by their words alone."
        )


def _embed(tab: TabSession, store: DocumentShelf, anew: bool) -> None:  # noqa: FBT001 - a widget's argument
    def work(_tell: Tell, stop: Event) -> Added:
        read = store.embed_missing(anew=anew, stop=stop)
        return Added(stopped=stop.is_set(), note=f"The embedding model read {count(read, 'passage')}.")

    tab.intake = Intake(work)
