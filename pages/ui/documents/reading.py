"""One document at a passage: its text as it was read, stretch by stretch, the passage marked."""

from __future__ import annotations

from html import escape

import streamlit as st

from forky_core.conversation.workspace import Workspace
from forky_core.model.document import ADDRESS, Chunk, CitedPassage, DocumentId
from forky_core.model.errors import ForkyError
from forky_core.views.shelf import count
from pages.ui.components.buttons import quiet_button
from pages.ui.components.links import page_link
from pages.ui.components.markdown import plain_label, showable

_BEFORE, _SHOWN = 2, 12
"""Passages before the one asked for, and in all."""
_ID = 16


def document_link(label: str, document: DocumentId, number: int) -> None:
    """`label` is Markdown."""
    page_link("documents.py", label, {"d": document[:_ID], "n": str(number)}, width="stretch")


def _came_along(forky: Workspace, of: str, address: str) -> CitedPassage | None:
    """The passage that came with a conversation's file, where its document is not here."""
    try:
        found = forky.conversation(of).documents.cited(address) if of else None
    except ForkyError:
        return None
    return found if isinstance(found, CitedPassage) else None


def _draw_passage(passage: CitedPassage) -> None:
    st.markdown(f"## {plain_label(passage.name, 120)}")
    st.caption(
        "The document itself is not in this workspace. This passage of it came along with the conversation that cites it."
    )
    st.html(_chunk(Chunk(1, passage.place, passage.text), here=True))


def draw_document(forky: Workspace, id: str, asked: str, *, of: str = "") -> None:
    """`of` is the conversation whose answer cites it, where one does.

    Keys: `documents.back`, `documents.earlier`, `documents.later`.
    """
    quiet_button("All documents", "documents.back", _back, icon="arrow_back")
    came = _came_along(forky, of, f"{ADDRESS}{id}#{asked}")
    if came is not None:
        _draw_passage(came)
        return
    try:
        document = forky.store.documents.document(id)
    except ForkyError as error:
        st.markdown(plain_label(str(error), 300))
        return
    number = min(max(int(asked) if asked.isdigit() else 1, 1), max(document.chunks, 1))
    st.markdown(f"## {plain_label(document.name, 120)}")
    gone = " · in the trash" if document.shelf == "trash" else ""
    st.caption(f"{size(document.size)} · {count(document.chunks, 'passage')}{gone}")
    first = max(1, number - _BEFORE)
    found = forky.store.documents.chunks(document.id, first=first, most=_SHOWN)
    if first > 1:
        _turn("Earlier", "documents.earlier", id, max(1, number - _SHOWN))
    st.html("".join(_chunk(chunk, here=chunk.number == number) for chunk in found))
    if found and found[-1].number < document.chunks:
        _turn("Later", "documents.later", id, number + _SHOWN)


def _chunk(chunk: Chunk, *, here: bool) -> str:
    text = chunk.text if here else chunk.text[chunk.overlap :]
    place = f'<div class="doc-place">{escape(showable(chunk.place))}</div>' if chunk.place else ""
    marked = ' doc-here" id="passage' if here else ""
    return f'<div class="doc-chunk{marked}">{place}<pre>{escape(showable(text.strip()))}</pre></div>'


def _turn(label: str, key: str, id: str, number: int) -> None:
    quiet_button(label, key, _goto, id, number)


def _goto(id: str, number: int) -> None:
    st.query_params.from_dict({"d": id, "n": str(number)})


def _back() -> None:
    for name in ("d", "n", "of"):
        st.query_params.pop(name, None)


def size(count: int) -> str:
    """Of a file, for people."""
    return f"{count / 1e6:,.1f} MB" if count >= 1e6 else f"{max(count / 1e3, 0.1):,.1f} kB"
