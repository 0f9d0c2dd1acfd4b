"""Dropping files: read in the background, with how far it has come, a way to give up, and what came of it."""

from __future__ import annotations

import streamlit as st

from forky_core.documents.adding import Added, RefusedDocument
from forky_core.documents.intake import Intake
from forky_core.documents.registry import labels
from forky_core.documents.shelf import DocumentShelf
from forky_core.documents.source import LARGEST, DocumentSource, source_of_bytes, too_large
from forky_core.model.errors import BadContent
from forky_core.views.shelf import count
from pages.ui.components.buttons import button
from pages.ui.components.markdown import plain_label
from pages.ui.components.too_large import draw_too_large, largest
from pages.ui.session import TabSession

_FILES = "documents.files"
_ROUND = "documents.round"
_CLOSED = "documents.closed"
"""How often an account was closed: what it told of is gone with it."""
_LOOK_EVERY = 0.5
"""Seconds between two looks at what is being read in."""


def draw_adding(tab: TabSession, store: DocumentShelf) -> None:
    """Keys: `documents.files.<round>`, `documents.too_large.<round>`, `documents.cancel`, `documents.close`."""
    if tab.intake is None:
        key = f"{_FILES}.{st.session_state.setdefault(_ROUND, 0)}"
        st.file_uploader(
            f"Add documents: {labels()}",
            accept_multiple_files=True,
            key=key,
            max_upload_size=_largest(),
            on_change=_take,
            args=(tab, store, key),
        )
    elif tab.intake.busy:
        st.fragment(run_every=_LOOK_EVERY)(_draw_busy)(tab.intake)
    else:
        _draw_end(tab, tab.intake)
    closed = st.session_state.setdefault(_CLOSED, 0)
    draw_too_large(_FILES, _largest(), _told, key=f"documents.too_large.{closed}")


def _largest() -> int:
    return largest(LARGEST // 1_000_000)


def _told(name: str, size: int) -> str:
    return str(too_large(name, size, _largest()))


def _take(tab: TabSession, store: DocumentShelf, key: str) -> None:
    sources: list[DocumentSource] = []
    refused: list[RefusedDocument] = []
    for upload in st.session_state[key] or ():
        try:
            sources.append(source_of_bytes(upload.name, upload.getvalue()))
        except BadContent as error:
            refused.append(RefusedDocument(upload.name, str(error)))
    st.session_state[_ROUND] += 1
    if sources:
        tab.intake = Intake.of(store, sources, refused)
    elif refused:
        tab.say(" ".join(one.why for one in refused))


def _draw_busy(intake: Intake) -> None:
    if not intake.busy:
        st.rerun()
    told = intake.progress
    text = (
        f"{plain_label(told.name, 60)}: {told.number:,} of {count(told.of, 'document')}, "
        f"{count(told.chunks, 'passage')} so far"
        if told is not None
        else "Reading …"
    )
    st.progress(min(1.0, intake.share), text=text)
    button("Cancel", "documents.cancel", intake.stop, icon="close")


def _draw_end(tab: TabSession, intake: Intake) -> None:
    added = intake.added or Added()
    said = [intake.failure] if intake.failure else []
    if added.note:
        said.append(added.note)
    if added.documents:
        said.append(
            f"Added {count(len(added.documents), 'document')}, "
            f"{count(sum(one.chunks for one in added.documents), 'passage')}."
        )
    said += [f"“{one.name}” is here already, by its content." for one in added.already[:5]]
    if added.stopped:
        said.append("Given up: what was whole by then is kept.")
    with st.container(key="documents-end", border=True):
        for sentence in said or ["Nothing was added."]:
            st.markdown(plain_label(sentence, 400))
        for one in added.refused:
            st.markdown(f":material/error: {plain_label(one.why, 400)}")
        button("Close", "documents.close", _close, tab)


def _close(tab: TabSession) -> None:
    tab.intake = None
    st.session_state[_CLOSED] += 1
