"""Documents in the DuckDB file: chunks, and an inverted index of postings that is scanned column by column.

The index is a table and not a structure in memory: a question reads the rows of its terms, which for 100,000 chunks
takes some 50 ms and little memory, a new document adds about a hundred rows, and after a crash the index is as durable
as everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forky_core.model.document import DocumentId, DocumentPiece, Numbers, SearchScope, Vectors
from forky_core.store.base.documents import BATCH, StoredDocuments, batch_of, reach
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.file.database import DatabaseFile
from forky_core.store.duckdb.running import FileSession, append, execute
from forky_core.store.duckdb.write.writer import FileWriter
from forky_core.store.rows import Row

_POSTING = ("chunk", "term", "frequency", "length")


class FiledDocuments(StoredDocuments):
    def __init__(self, file: DatabaseFile, writer: FileWriter) -> None:
        super().__init__(file, writer)
        self._file = file

    def _take_in(self, session: FileSession, pieces: Sequence[DocumentPiece]) -> None:
        cursor = session.cursor
        standing = _stored(session, [piece.document.id for piece in pieces])
        stale = [
            piece.document.id
            for piece in pieces
            if _begins(piece) and piece.document.id in standing and not standing[piece.document.id][1]
        ]
        if stale:
            self._drop(session, stale)
            for id in stale:
                standing.pop(id, None)
        ((last_document, last_chunk),) = session.rows(sql.LAST_NUMBERS)
        rows = _Rows(last_document, last_chunk, standing)
        for piece in pieces:
            rows.take(piece)
        append(cursor, "documents", [*rows.documents.values()])
        append(cursor, "chunks", rows.chunks)
        append(cursor, "postings", rows.postings)
        for grown in rows.grown:
            execute(cursor, sql.GROW_DOCUMENT, grown)

    def _postings(self, session: FileSession, **given: Any) -> Sequence[Numbers]:
        import numpy as np  # noqa: PLC0415 - no page loads it before a document is looked through

        found = execute(session.cursor, sql.POSTINGS, **given).fetchnumpy()
        return [np.asarray(found[name]) for name in _POSTING]

    def _embed(self, session: FileSession, model: str, vectors: Mapping[int, Numbers]) -> None:
        owners = dict(session.rows(sql.OWNERS, keys=list(vectors)))
        session.rows(sql.DROP_VECTORS, keys=list(vectors))
        rows = [
            {"chunk": key, "document": owners[key], "model": model, "size": len(one), "vector": one.tobytes()}
            for key, one in vectors.items()
            if key in owners
        ]
        append(session.cursor, "vectors", rows)

    def vectors(self, model: str, scope: SearchScope) -> Iterator[Vectors]:
        with self._file.cursor() as cursor:
            execute(cursor, sql.VECTORS, model=model, **reach(scope))
            while rows := cursor.fetchmany(BATCH):
                with self._file.decoding():
                    batch = batch_of(rows)
                yield batch


def _stored(session: FileSession, ids: Sequence[DocumentId]) -> dict[DocumentId, tuple[int, bool]]:
    """The number of each of these documents that is stored, and whether it is complete."""
    rows = session.fetch(sql.STORED_DOCUMENTS, ids=list(ids))
    return {row["id"]: (row["document"], row["whole"]) for row in rows}


def _begins(piece: DocumentPiece) -> bool:
    return not piece.chunks or piece.chunks[0].number == 1


class _Rows:
    """The rows that a list of pieces becomes."""

    def __init__(self, document: int, chunk: int, standing: dict[DocumentId, tuple[int, bool]]) -> None:
        self._document = document
        self._chunk = chunk
        self._standing = standing
        self.documents: dict[int, dict[str, Any]] = {}
        """New documents by number."""
        self.chunks: list[Row] = []
        self.postings: list[Row] = []
        self.grown: list[Row] = []
        """Documents that grew, with the chunks and terms that were added, and whether the document is now complete."""

    def take(self, piece: DocumentPiece) -> None:
        one = piece.document
        number, whole = self._standing.get(one.id, (0, False))
        if whole:
            return
        if not number:
            number = self._document = self._document + 1
            self.documents[number] = {
                "document": number,
                "id": one.id,
                "name": one.name,
                "media_type": one.media_type,
                "size": one.size,
                "added": one.added,
                "shelf": one.shelf,
                "whole": False,
                "chunks": 0,
                "terms": 0,
            }
        self._standing[one.id] = (number, piece.last)
        self._grow(number, len(piece.chunks), sum(chunk.length for chunk in piece.chunks), whole=piece.last)
        for chunk in piece.chunks:
            self._chunk += 1
            self.chunks.append(
                {
                    "chunk": self._chunk,
                    "document": number,
                    "number": chunk.number,
                    "place": chunk.place,
                    "text": chunk.text,
                    "overlap": chunk.overlap,
                }
            )
            of_chunk = {"chunk": self._chunk, "document": number, "length": chunk.length}
            self.postings += [
                {**of_chunk, "term": term, "frequency": frequency} for term, frequency in chunk.counts.items()
            ]

    def _grow(self, number: int, chunks: int, terms: int, *, whole: bool) -> None:
        fresh = self.documents.get(number)
        if fresh is None:
            self.grown.append({"document": number, "chunks": chunks, "terms": terms, "whole": whole})
        else:
            fresh["whole"] = whole
            fresh["chunks"] += chunks
            fresh["terms"] += terms
