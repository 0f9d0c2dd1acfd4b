"""Documents in the DuckDB file: chunks, and an inverted index of postings that is scanned column by column.

The index is a table and not a structure in memory: a question reads the rows of its terms, which for 100,000 chunks
takes some 50 ms and little memory, a new document adds about a hundred rows, and after a crash the index is as durable
as everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import duckdb

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
from forky_core.store.base.writer import Alone
from forky_core.store.deciding import known_document, no_document
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.file.database import DatabaseFile
from forky_core.store.duckdb.running import append, execute, fetch
from forky_core.store.duckdb.write.writer import FileWriter
from forky_core.store.moving.contract import StoredChunk
from forky_core.store.rows import Row, chunk_from_row, document_from_row

_BATCH = 4096
"""Vectors read at a time."""
_ALL = 2**31 - 1
_POSTING = ("chunk", "term", "frequency", "length")


class FiledDocuments:
    """A `DocumentKeeper` in the same file, and with the same writer, as the conversations."""

    def __init__(self, file: DatabaseFile, writer: FileWriter) -> None:
        self._file = file
        self._writer = writer

    def take_in(self, pieces: Sequence[DocumentPiece]) -> None:
        if pieces:
            self._writer.ask(Alone(lambda cursor: _take_in(cursor, pieces)))

    def shelve(self, document: DocumentId, shelf: Shelf) -> None:
        def work(cursor: duckdb.DuckDBPyConnection) -> None:
            if not execute(cursor, sql.STORED_DOCUMENTS, ids=[document]).fetchall():
                raise no_document(document)
            execute(cursor, sql.SHELVE, id=document, shelf=shelf)

        self._writer.ask(Alone(work))

    def drop(self, documents: Sequence[DocumentId]) -> None:
        def work(cursor: duckdb.DuckDBPyConnection) -> None:
            _drop(cursor, [number for number, _ in _stored(cursor, documents).values()])

        if documents:
            self._writer.ask(Alone(work))

    def document(self, id: str) -> Document:
        rows = self._file.fetch(sql.DOCUMENTS_LIKE, prefix=id.lower())
        return known_document(id, [document_from_row(row) for row in rows])

    def documents(self) -> tuple[Document, ...]:
        return tuple(document_from_row(row) for row in self._file.fetch(sql.DOCUMENTS))

    def known(self, ids: Sequence[DocumentId]) -> Mapping[DocumentId, Document]:
        found = (document_from_row(row) for row in self._file.fetch(sql.DOCUMENTS_NAMED, ids=list(ids)))
        return {document.id: document for document in found}

    def within(self, scope: SearchScope) -> tuple[int, int]:
        ((count, chunks, _),) = self._file.rows(sql.WITHIN, **_reach(scope))
        return count, chunks

    def chunks(self, document: DocumentId, *, first: int = 1, most: int | None = None) -> tuple[Chunk, ...]:
        limit = _ALL if most is None else max(most, 0)
        rows = self._file.fetch(sql.CHUNKS, id=document, first=first, most=limit)
        return tuple(chunk_from_row(row) for row in rows)

    def stored_chunks(self, document: DocumentId, *, first: int, most: int) -> tuple[StoredChunk, ...]:
        with self._file.snapshot() as cursor:
            rows = fetch(cursor, sql.STORED_CHUNKS, id=document, first=first, most=max(most, 0))
            counts: dict[int, dict[int, int]] = {row["chunk"]: {} for row in rows}
            for key, term, frequency in execute(cursor, sql.COUNTS, keys=list(counts)).fetchall():
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
            import numpy as np  # noqa: PLC0415 - no page loads it before a document is looked through

        given = _reach(scope)
        with self._file.snapshot() as cursor:
            ((_, count, length),) = execute(cursor, sql.WITHIN, **given).fetchall()
            found = execute(cursor, sql.POSTINGS, terms=list(terms), **given).fetchnumpy()
        chunk, term, frequency, lengths = (np.asarray(found[name]) for name in _POSTING)
        return Postings(chunk, term, frequency, lengths, count, length / count if count else 0.0)

    def found(self, keys: Sequence[int]) -> Mapping[int, tuple[Document, Chunk]]:
        rows = self._file.fetch(sql.FOUND, keys=[int(key) for key in keys])
        return {row["chunk"]: (document_from_row(row), chunk_from_row(row)) for row in rows}

    def unembedded(self, model: str, most: int) -> Mapping[int, str]:
        return dict(self._file.rows(sql.UNEMBEDDED, model=model, most=most))

    def embed(self, model: str, keys: Sequence[int], rows: Numbers) -> None:
        import numpy as np  # noqa: PLC0415 - no page loads it before a document is looked through

        given = {int(key): row for key, row in zip(keys, rows, strict=True)}

        def work(cursor: duckdb.DuckDBPyConnection) -> None:
            owners: dict[int, int] = dict(execute(cursor, sql.OWNERS, keys=list(given)).fetchall())
            execute(cursor, sql.DROP_VECTORS, keys=list(given))
            append(
                cursor,
                "vectors",
                [
                    {
                        "chunk": key,
                        "document": owners[key],
                        "model": model,
                        "size": len(row),
                        "vector": np.asarray(row, np.float32).tobytes(),
                    }
                    for key, row in given.items()
                    if key in owners
                ],
            )

        self._writer.ask(Alone(work))

    def forget_vectors(self) -> None:
        self._writer.ask(Alone(lambda cursor: execute(cursor, sql.FORGET_VECTORS)))

    def vectors(self, model: str, scope: SearchScope) -> Iterator[Vectors]:
        import numpy as np  # noqa: PLC0415 - no page loads it before a document is looked through

        with self._file.cursor() as cursor:
            execute(cursor, sql.VECTORS, model=model, **_reach(scope))
            while rows := cursor.fetchmany(_BATCH):
                with self._file.decoding():
                    keys = np.array([key for key, _ in rows], np.int64)
                    found = np.stack([np.frombuffer(vector, np.float32) for _, vector in rows])
                yield Vectors(keys, found)

    def vector_sizes(self) -> Mapping[str, int]:
        return dict(self._file.rows(sql.VECTOR_SIZES))


def _numbers(vector: bytes | None) -> Numbers | None:
    if vector is None:
        return None
    import numpy as np  # noqa: PLC0415 - no page loads it before a document is looked through

    return np.frombuffer(vector, np.float32)


def _reach(scope: SearchScope) -> dict[str, Any]:
    return {"workspace": scope.workspace, "named": list(scope.named)}


def _stored(
    cursor: duckdb.DuckDBPyConnection, ids: Sequence[DocumentId]
) -> dict[DocumentId, tuple[int, bool]]:
    """The number of each of these documents that is stored, and whether it is complete."""
    rows = fetch(cursor, sql.STORED_DOCUMENTS, ids=list(ids))
    return {row["id"]: (row["document"], row["whole"]) for row in rows}


def _drop(cursor: duckdb.DuckDBPyConnection, numbers: list[int]) -> None:
    if numbers:
        for statement in sql.DROP_DOCUMENTS:
            execute(cursor, statement, numbers=numbers)


def _take_in(cursor: duckdb.DuckDBPyConnection, pieces: Sequence[DocumentPiece]) -> None:
    """Store pieces of documents; to be called inside a transaction."""
    standing = _stored(cursor, [piece.document.id for piece in pieces])
    stale = [
        standing.pop(piece.document.id)[0]
        for piece in pieces
        if _begins(piece) and piece.document.id in standing and not standing[piece.document.id][1]
    ]
    _drop(cursor, stale)
    ((last_document, last_chunk),) = execute(cursor, sql.LAST_NUMBERS).fetchall()
    rows = _Rows(last_document, last_chunk, standing)
    for piece in pieces:
        rows.take(piece)
    append(cursor, "documents", [*rows.documents.values()])
    append(cursor, "chunks", rows.chunks)
    append(cursor, "postings", rows.postings)
    for grown in rows.grown:
        execute(cursor, sql.GROW_DOCUMENT, grown)


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
