"""Documents of a store in a database; an engine adds how pieces are taken in, and how many numbers are read at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

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
from forky_core.process.extras import needed_for
from forky_core.store.base.session import EVERY, EngineSession, EngineTables
from forky_core.store.base.writer import Alone, GroupWriter
from forky_core.store.deciding import known_document, no_document
from forky_core.store.moving.contract import StoredChunk
from forky_core.store.rows import Row, chunk_from_row, document_from_row

BATCH = 4096
"""Vectors that are read at a time."""


class StoredDocuments(ABC):
    """A `DocumentKeeper` in the same database, and with the same writer, as the conversations."""

    def __init__(self, database: EngineTables, writer: GroupWriter) -> None:
        self._database = database
        self._writer = writer
        self._sql = database.sql

    @abstractmethod
    def _take_in(self, session: Any, pieces: Sequence[DocumentPiece]) -> None: ...

    @abstractmethod
    def _postings(self, session: Any, **given: Any) -> Sequence[Numbers]:
        """The chunks, terms, frequencies and lengths of these postings."""

    @abstractmethod
    def _embed(self, session: Any, model: str, vectors: Mapping[int, Numbers]) -> None: ...

    @abstractmethod
    def vectors(self, model: str, scope: SearchScope) -> Iterator[Vectors]:
        """See `DocumentKeeper.vectors`."""

    def take_in(self, pieces: Sequence[DocumentPiece]) -> None:
        if pieces:
            self._writer.ask(Alone(lambda session: self._take_in(session, pieces)))

    def shelve(self, document: DocumentId, shelf: Shelf) -> None:
        def work(session: EngineSession) -> None:
            if not session.rows(self._sql.SHELVE, id=document, shelf=shelf):
                raise no_document(document)

        self._writer.ask(Alone(work))

    def drop(self, documents: Sequence[DocumentId]) -> None:
        if documents:
            self._writer.ask(Alone(lambda session: self._drop(session, documents)))

    def _drop(self, session: EngineSession, documents: Sequence[DocumentId]) -> None:
        for statement in self._sql.DROP_DOCUMENTS:
            session.rows(statement, ids=list(documents))

    def document(self, id: str) -> Document:
        rows = self._database.fetch(self._sql.DOCUMENTS_LIKE, prefix=id.lower())
        return known_document(id, [document_from_row(row) for row in rows])

    def documents(self) -> tuple[Document, ...]:
        return tuple(document_from_row(row) for row in self._database.fetch(self._sql.DOCUMENTS))

    def known(self, ids: Sequence[DocumentId]) -> Mapping[DocumentId, Document]:
        rows = self._database.fetch(self._sql.DOCUMENTS_NAMED, ids=list(ids))
        return {document.id: document for document in map(document_from_row, rows)}

    def within(self, scope: SearchScope) -> tuple[int, int]:
        ((count, chunks, _),) = self._database.rows(self._sql.WITHIN, **reach(scope))
        return count, chunks

    def chunks(self, document: DocumentId, *, first: int = 1, most: int | None = None) -> tuple[Chunk, ...]:
        limit = EVERY if most is None else max(most, 0)
        rows = self._database.fetch(self._sql.CHUNKS, document=document, first=first, most=limit)
        return tuple(map(chunk_from_row, rows))

    def stored_chunks(self, document: DocumentId, *, first: int, most: int) -> tuple[StoredChunk, ...]:
        given = {"document": document, "first": first, "most": max(most, 0)}

        def read(session: EngineSession) -> tuple[list[Row], list[tuple[Any, ...]]]:
            rows = session.fetch(self._sql.STORED_CHUNKS, **given)
            return rows, session.rows(self._sql.COUNTS, keys=[row["chunk"] for row in rows])

        rows, counted = self._database.at_once(read)
        counts: dict[int, dict[int, int]] = {row["chunk"]: {} for row in rows}
        for key, term, frequency in counted:
            counts[key][term] = frequency
        return tuple(
            StoredChunk(
                row["chunk"],
                replace(chunk_from_row(row), counts=counts[row["chunk"]]),
                row["model"] or "",
                _numbers(row["vector"]),
            )
            for row in rows
        )

    def postings(self, terms: Sequence[int], scope: SearchScope) -> Postings:
        with needed_for("Searching documents", "documents"):
            import numpy  # noqa: F401, ICN001, PLC0415 - no page loads it before a document is looked through

        given = reach(scope)

        def read(session: EngineSession) -> tuple[list[tuple[Any, ...]], Sequence[Numbers]]:
            within = session.rows(self._sql.WITHIN, **given)
            return within, self._postings(session, terms=[int(term) for term in terms], **given)

        ((_, count, length),), columns = self._database.at_once(read)
        chunk, term, frequency, lengths = columns
        return Postings(
            chunk, term, frequency, lengths, int(count), int(length) / int(count) if count else 0.0
        )

    def found(self, keys: Sequence[int]) -> Mapping[int, tuple[Document, Chunk]]:
        rows = self._database.fetch(self._sql.FOUND, keys=[int(key) for key in keys])
        return {row["chunk"]: (document_from_row(row), chunk_from_row(row)) for row in rows}

    def unembedded(self, model: str, most: int) -> Mapping[int, str]:
        return dict(self._database.rows(self._sql.UNEMBEDDED, model=model, most=most))

    def embed(self, model: str, keys: Sequence[int], rows: Numbers) -> None:
        import numpy as np  # noqa: PLC0415 - as above

        # A key that is named twice has its last vector.
        given = {int(key): np.asarray(row, np.float32) for key, row in zip(keys, rows, strict=True)}
        if given:
            self._writer.ask(Alone(lambda session: self._embed(session, model, given)))

    def forget_vectors(self) -> None:
        self._writer.ask(Alone(lambda session: session.rows(self._sql.FORGET_VECTORS)))

    def vector_sizes(self) -> Mapping[str, int]:
        return dict(self._database.rows(self._sql.VECTOR_SIZES))


def reach(scope: SearchScope) -> dict[str, Any]:
    """The parameters of a statement about the documents within a scope."""
    return {"shelved": scope.workspace, "named": list(scope.named)}


def batch_of(rows: Sequence[tuple[int, bytes]]) -> Vectors:
    """Vectors as rows hold them, with their keys."""
    import numpy as np  # noqa: PLC0415 - as above

    keys = np.array([key for key, _ in rows], np.int64)
    return Vectors(keys, np.stack([np.frombuffer(vector, np.float32) for _, vector in rows]))


def _numbers(vector: bytes | None) -> Numbers | None:
    import numpy as np  # noqa: PLC0415 - as above

    return None if vector is None else np.frombuffer(vector, np.float32)
