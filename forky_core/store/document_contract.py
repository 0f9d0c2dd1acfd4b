"""What Forky needs of a store for documents: they come in by pieces, are looked up by terms, and go.

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
    Reach,
    Shelf,
    Vectors,
)


class DocumentKeeper(Protocol):
    def take_in(self, pieces: Sequence[DocumentPiece]) -> None:
        """Add chunks behind those there are, in one transaction.

        A document exists from its first piece on and can be found after its last. One that is whole already is left
        as it is; a first chunk (number 1) of one that is not takes the place of what an earlier attempt has left.
        """
        ...

    def shelve(self, document: DocumentId, shelf: Shelf) -> None:
        """Where it is offered from now on. NotFound where there is none of that id."""
        ...

    def drop(self, documents: Sequence[DocumentId]) -> None:
        """Remove them for good, their chunks and vectors included; unknown ones are passed over."""
        ...

    def document(self, id: str) -> Document:
        """By its id or the beginning of one.

        Raises:
            NotFound, Ambiguous
        """
        ...

    def documents(self) -> tuple[Document, ...]:
        """All of them, unfinished and trashed ones too; the newest first."""
        ...

    def known(self, ids: Sequence[DocumentId]) -> Mapping[DocumentId, Document]:
        """Those of the ids that there are."""
        ...

    def within(self, reach: Reach) -> tuple[int, int]:
        """How many whole documents and how many chunks can be reached."""
        ...

    def chunks(self, document: DocumentId, *, first: int = 1, most: int | None = None) -> tuple[Chunk, ...]:
        """Of one document, from number `first` on, in order."""
        ...

    def postings(self, terms: Sequence[int], reach: Reach) -> Postings:
        """Where the terms occur in whole documents within reach."""
        ...

    def found(self, keys: Sequence[int]) -> Mapping[int, tuple[Document, Chunk]]:
        """What stands behind the keys of postings or vectors; those that are gone are left out."""
        ...

    def unembedded(self, model: str, most: int) -> Mapping[int, str]:
        """Texts of up to `most` chunks of whole documents, by their keys, that this model has not seen."""
        ...

    def embed(self, model: str, keys: Sequence[int], rows: Numbers) -> None:
        """Keep the vectors of chunks, in place of what another model or an earlier call gave for them."""
        ...

    def forget_vectors(self) -> None:
        """Every one, of every model."""
        ...

    def vectors(self, model: str, reach: Reach) -> Iterator[Vectors]:
        """Every chunk within reach that this model has seen, in batches."""
        ...

    def vector_sizes(self) -> Mapping[str, int]:
        """How many numbers a vector has, by model."""
        ...
