"""Copying documents between stores, with the counts that searching needs and with their vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from forky_core.model.document import Document, DocumentPiece
from forky_core.store.moving.contract import MovableDocuments, StoredChunk

_CHUNKS = 500
"""Chunks that are copied at a time."""


def copy_document(source: MovableDocuments, target: MovableDocuments, document: Document) -> None:
    """Copy a complete document to where `document.shelf` says. What the target has of it already stays."""
    there = target.known([document.id]).get(document.id)
    if there is None or not there.whole:
        for chunks, last in _with_the_last(source, document):
            piece = DocumentPiece(replace(document, whole=False), tuple(one.chunk for one in chunks), last)
            target.take_in([piece])
    elif there.shelf != document.shelf:
        target.shelve(document.id, document.shelf)
    for chunks, _ in _with_the_last(source, document):
        _copy_vectors(chunks, target, document)


def stored_chunks(source: MovableDocuments, document: Document) -> Iterator[Sequence[StoredChunk]]:
    """The chunks of a document, piece by piece."""
    first = 1
    while chunks := source.stored_chunks(document.id, first=first, most=_CHUNKS):
        yield chunks
        first = chunks[-1].chunk.number + 1


def same_chunk(one: StoredChunk, other: StoredChunk) -> bool:
    """Whether two stores have the same of a chunk, whatever the keys by which they know it."""
    return one.chunk == other.chunk and _same_vector(one, other)


def _with_the_last(
    source: MovableDocuments, document: Document
) -> Iterator[tuple[Sequence[StoredChunk], bool]]:
    """The pieces of a document, the last one marked; one without chunks has one empty piece."""
    waiting: Sequence[StoredChunk] | None = None
    for chunks in stored_chunks(source, document):
        if waiting is not None:
            yield waiting, False
        waiting = chunks
    yield waiting or (), True


def _copy_vectors(chunks: Sequence[StoredChunk], target: MovableDocuments, document: Document) -> None:
    wanted = [one for one in chunks if one.vector is not None]
    if not wanted:
        return
    found = target.stored_chunks(document.id, first=chunks[0].chunk.number, most=len(chunks))
    there = {one.chunk.number: one for one in found}
    lacking = [one for one in wanted if not _same_vector(one, there[one.chunk.number])]
    for model in dict.fromkeys(one.model for one in lacking):
        of_model = [one for one in lacking if one.model == model]
        _embed(model, of_model, [there[one.chunk.number].key for one in of_model], target)


def _embed(model: str, chunks: Sequence[StoredChunk], keys: Sequence[int], target: MovableDocuments) -> None:
    import numpy as np  # noqa: PLC0415 - only vectors need it

    target.embed(model, keys, np.stack([one.vector for one in chunks if one.vector is not None]))


def _same_vector(one: StoredChunk, other: StoredChunk) -> bool:
    if one.vector is None or other.vector is None:
        return one.vector is other.vector
    return one.model == other.model and one.vector.tobytes() == other.vector.tobytes()
