"""The documents of one place, line by line, and the trash."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from forky_core.conversation.identity import now
from forky_core.conversation.workspace import Workspace
from forky_core.documents.shelf import DocumentShelf
from forky_core.model.document import Document
from forky_core.views.shelf import count
from forky_core.views.times import ago
from pages.ui.components.buttons import button, quiet_button
from pages.ui.components.markdown import plain_label
from pages.ui.documents.reading import document_link, size
from pages.ui.frame import saying
from pages.ui.session import TabSession

_LINES = 30


def draw_list(forky: Workspace, tab: TabSession, store: DocumentShelf, *, removes: bool) -> None:
    """`removes` says whether the reader may take one away. Keys: `documents.page`, `documents.remove.<id>`."""
    listed = store.documents()
    if not listed:
        with st.container(key="documents-empty", horizontal_alignment="center"):
            st.markdown("## No document here yet")
            if not removes:
                return
            st.caption(
                "Drop a file above. Then switch “Documents” on below the chat: answers quote what bears on the question "
                "and say where it stands. It needs no key; the offline model quotes them too."
            )
        return
    for one in _page(listed):
        with st.container(key=f"row-document-{one.id[:12]}", horizontal=True, vertical_alignment="center"):
            document_link(plain_label(one.name, 80), one.id, 1)
            st.caption(_about(one), width="content")
            if removes:
                quiet_button(
                    "Remove",
                    f"documents.remove.{one.id[:12]}",
                    _remove,
                    forky,
                    tab,
                    store,
                    one,
                    icon="delete",
                    help="Answers quote it no longer; it can be taken back",
                )


def _page(listed: Sequence[Document]) -> Sequence[Document]:
    pages = -(-len(listed) // _LINES)
    if pages < 2:
        return listed
    page = min(int(st.session_state.get("documents.page", 1)), pages)
    st.pagination(pages, key="documents.page")
    return listed[(page - 1) * _LINES : page * _LINES]


def _about(one: Document) -> str:
    return f"{size(one.size)} · {count(one.chunks, 'passage')} · {ago(one.added, now())}"


def _remove(forky: Workspace, tab: TabSession, store: DocumentShelf, one: Document) -> None:
    with saying(tab):
        store.remove(one.id)
        trashed = forky.store.documents.document(one.id).shelf == "trash"
        way_back = "It is in the trash, above." if trashed else "Undo brings it back."
        tab.say(f"Removed “{one.name}”. {way_back}")


def draw_trash(forky: Workspace, tab: TabSession, trashed: Sequence[Document]) -> None:
    """Keys: `documents.take_back.<id>`, `documents.delete.<id>`."""
    if not trashed:
        st.caption("The trash is empty.")
    for one in _page(trashed):
        with st.container(key=f"row-document-{one.id[:12]}", horizontal=True, vertical_alignment="center"):
            st.markdown(plain_label(one.name, 80), width="stretch")
            st.caption(_about(one), width="content")
            button(
                "Take back", f"documents.take_back.{one.id[:12]}", _take_back, forky, tab, one, icon="undo"
            )
            st.button(
                "Delete for good",
                key=f"documents.delete.{one.id[:12]}",
                type="tertiary",
                help="Nothing brings it back. Answers that cite it keep their words; the passage can no longer be opened",
                on_click=_delete,
                args=(forky, tab, one),
            )


def _take_back(forky: Workspace, tab: TabSession, one: Document) -> None:
    with saying(tab):
        forky.take_back_document(one.id)
        tab.say(f"Took “{one.name}” back into the workspace.")


def _delete(forky: Workspace, tab: TabSession, one: Document) -> None:
    with saying(tab):
        forky.delete_document(one.id)
        tab.say(f"Deleted “{one.name}” for good.")
