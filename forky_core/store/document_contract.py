"""What Forky needs of a store for documents: they are added in pieces, searched by terms, and removed.

As with conversations the meaning lives above: how text becomes chunks and terms, and how chunks are ranked
(forky_core/documents, retrieval/bm25.py). Memory and DuckDB keep the same laws (tests/store/document_laws.py). Calls
are safe from any thread; one that writes is durable when it returns, and has left nothing behind when it raises.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from forky_core.model.document import (
    Chunk,
    Document,
    DocumentId,
    DocumentPiece,
    Numbers,
    Postings,
    SearchScope,
    Shelf,
    Vectors,
)


class DocumentKeeper(Protocol):
    def take_in(self, pieces: Sequence[DocumentPiece]) -> None:
        """Append chunks to documents, in one transaction.

        A document exists from its first piece on and can be searched after its last. A complete document is left
        unchanged; the first chunk (number 1) of an incomplete one replaces what an earlier attempt wrote.
        """
        ...

    def shelve(self, document: DocumentId, shelf: Shelf) -> None:
        """Set where a document is offered. Raises NotFound for an unknown id."""
        ...

    def drop(self, documents: Sequence[DocumentId]) -> None:
        """Remove documents for good with their chunks and vectors; unknown ids are ignored."""
        ...

    def document(self, id: str) -> Document:
        """The document with this id or the only one whose id begins so.

        Raises:
            NotFound, Ambiguous
        """
        ...

    def documents(self) -> tuple[Document, ...]:
        """All documents, including incomplete and trashed ones, newest first."""
        ...

    def known(self, ids: Sequence[DocumentId]) -> Mapping[DocumentId, Document]:
        """The documents with these ids; unknown ids are left out."""
        ...

    def within(self, scope: SearchScope) -> tuple[int, int]:
        """How many complete documents and how many chunks are within `scope`."""
        ...

    def chunks(self, document: DocumentId, *, first: int = 1, most: int | None = None) -> tuple[Chunk, ...]:
        """The chunks of one document in order, from number `first` on, at most `most`."""
        ...

    def postings(self, terms: Sequence[int], scope: SearchScope) -> Postings:
        """Where these terms occur in complete documents within `scope`."""
        ...

    def found(self, keys: Sequence[int]) -> Mapping[int, tuple[Document, Chunk]]:
        """The document and chunk behind each key of postings or vectors; removed ones are left out."""
        ...

    def unembedded(self, model: str, most: int) -> Mapping[int, str]:
        """Texts, by key, of up to `most` chunks of complete documents that have no vector of this model."""
        ...

    def embed(self, model: str, keys: Sequence[int], rows: Numbers) -> None:
        """Store vectors of chunks, replacing any from another model or an earlier call."""
        ...

    def forget_vectors(self) -> None:
        """Remove all vectors of all models."""
        ...

    def vectors(self, model: str, scope: SearchScope) -> Iterator[Vectors]:
        """The vectors of this model for chunks within `scope`, in batches."""
        ...

    def vector_sizes(self) -> Mapping[str, int]:
        """The number of dimensions of the stored vectors, by model."""
        ...
