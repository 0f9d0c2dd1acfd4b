"""Documents in PostgreSQL: the contract of document_contract.py over four tables of one workspace."""

from __future__ import annotations

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
from forky_core.store.base.writer import Alone
from forky_core.store.deciding import known_document, no_document
from forky_core.store.moving.contract import StoredChunk
from forky_core.store.postgresql import statements as sql
from forky_core.store.postgresql.connection import Connection, Rows, fetch, run
from forky_core.store.postgresql.database import Database
from forky_core.store.postgresql.texts import kept, said
from forky_core.store.postgresql.writer import ServerWriter
from forky_core.store.rows import Row, chunk_from_row, document_from_row

_ALL = 2**31 - 1
_BATCH = 4096
"""Vectors that are read at a time."""


class PostgresDocuments:
    """A `DocumentKeeper` in one workspace of a PostgreSQL database."""

    def __init__(self, database: Database, writer: ServerWriter) -> None:
        self._database = database
        self._writer = writer

    def _rows(self, statement: str, **given: object) -> Rows:
        return self._database.rows(statement, workspace=self._database.workspace, **given)

    def _fetch(self, statement: str, **given: object) -> list[Row]:
        return self._database.fetch(statement, workspace=self._database.workspace, **given)

    def _run(self, connection: Connection, statement: str, **given: object) -> Rows:
        return run(connection, statement, workspace=self._database.workspace, **given)

    def take_in(self, pieces: Sequence[DocumentPiece]) -> None:
        def work(connection: Connection) -> None:
            for piece in pieces:
                self._take(connection, piece)

        self._writer.ask(Alone(work))

    def _take(self, connection: Connection, piece: DocumentPiece) -> None:
        one = piece.document
        standing = self._run(connection, sql.LOCK_DOCUMENT, id=one.id)
        if standing == [(True,)]:
            return
        if standing and (not piece.chunks or piece.chunks[0].number == 1):
            self._drop(connection, [one.id])
            standing = []
        if not standing:
            self._run(
                connection,
                sql.ADD_DOCUMENT,
                id=one.id,
                name=kept(one.name),
                media_type=kept(one.media_type),
                size=one.size,
                added=one.added,
                shelf=one.shelf,
            )
        chunks = piece.chunks
        keys = {
            number: key
            for key, number in self._run(
                connection,
                sql.ADD_CHUNKS,
                document=one.id,
                numbers=[chunk.number for chunk in chunks],
                places=[kept(chunk.place) for chunk in chunks],
                texts=[kept(chunk.text) for chunk in chunks],
                overlaps=[chunk.overlap for chunk in chunks],
                lengths=[chunk.length for chunk in chunks],
            )
        }
        postings = [
            (term, keys[chunk.number], frequency)
            for chunk in chunks
            for term, frequency in chunk.counts.items()
        ]
        if postings:
            terms, owners, frequencies = (list(column) for column in zip(*postings, strict=True))
            self._run(
                connection,
                sql.ADD_POSTINGS,
                document=one.id,
                terms=terms,
                chunks=owners,
                frequencies=frequencies,
            )
        self._run(
            connection,
            sql.GROW_DOCUMENT,
            id=one.id,
            whole=piece.last,
            chunks=len(chunks),
            terms=sum(chunk.length for chunk in chunks),
        )

    def shelve(self, document: DocumentId, shelf: Shelf) -> None:
        def work(connection: Connection) -> None:
            if not self._run(connection, sql.SHELVE, id=document, shelf=shelf):
                raise no_document(document)

        self._writer.ask(Alone(work))

    def drop(self, documents: Sequence[DocumentId]) -> None:
        if documents:
            self._writer.ask(Alone(lambda connection: self._drop(connection, documents)))

    def _drop(self, connection: Connection, documents: Sequence[DocumentId]) -> None:
        for statement in sql.DROP_DOCUMENTS:
            self._run(connection, statement, ids=list(documents))

    def document(self, id: str) -> Document:
        rows = self._fetch(sql.DOCUMENTS_LIKE, prefix=kept(id.lower()))
        return known_document(id, [document_from_row(row) for row in rows])

    def documents(self) -> tuple[Document, ...]:
        return tuple(document_from_row(row) for row in self._fetch(sql.DOCUMENTS))

    def known(self, ids: Sequence[DocumentId]) -> Mapping[DocumentId, Document]:
        found = (
            document_from_row(row) for row in self._fetch(sql.DOCUMENTS_NAMED, ids=[kept(id) for id in ids])
        )
        return {document.id: document for document in found}

    def within(self, scope: SearchScope) -> tuple[int, int]:
        ((count, chunks, _),) = self._rows(sql.WITHIN, **_reach(scope))
        return count, chunks

    def chunks(self, document: DocumentId, *, first: int = 1, most: int | None = None) -> tuple[Chunk, ...]:
        limit = _ALL if most is None else max(most, 0)
        rows = self._fetch(sql.CHUNKS, document=document, first=first, most=limit)
        return tuple(chunk_from_row(row) for row in rows)

    def stored_chunks(self, document: DocumentId, *, first: int, most: int) -> tuple[StoredChunk, ...]:
        import numpy as np  # noqa: PLC0415 - no page loads it before a document is looked through

        def read(connection: Connection) -> tuple[list[Row], Rows]:
            given = {"document": document, "first": first, "most": max(most, 0)}
            rows = fetch(connection, sql.STORED_CHUNKS, workspace=self._database.workspace, **given)
            return rows, self._run(connection, sql.COUNTS, keys=[row["chunk"] for row in rows])

        rows, counted = self._database.snapshot(read)
        counts: dict[int, dict[int, int]] = {row["chunk"]: {} for row in rows}
        for key, term, frequency in counted:
            counts[key][term] = frequency
        return tuple(
            StoredChunk(
                row["chunk"],
                replace(chunk_from_row(row), counts=counts[row["chunk"]]),
                row["model"] or "",
                np.frombuffer(row["vector"], np.float32) if row["vector"] is not None else None,
            )
            for row in rows
        )

    def postings(self, terms: Sequence[int], scope: SearchScope) -> Postings:
        with needed_for("Searching documents", "documents"):
            import numpy as np  # noqa: PLC0415 - no page loads it before a document is looked through

        given = _reach(scope)

        def read(connection: Connection) -> tuple[Rows, Rows]:
            within = self._run(connection, sql.WITHIN, **given)
            return within, self._run(connection, sql.POSTINGS, terms=[int(term) for term in terms], **given)

        ((_, count, length),), rows = self._database.snapshot(read)
        chunk, term, frequency, lengths = np.array(rows, np.int64).reshape(-1, 4).T
        return Postings(
            chunk, term, frequency, lengths, int(count), int(length) / int(count) if count else 0.0
        )

    def found(self, keys: Sequence[int]) -> Mapping[int, tuple[Document, Chunk]]:
        rows = self._fetch(sql.FOUND, keys=[int(key) for key in keys])
        return {row["chunk"]: (document_from_row(row), chunk_from_row(row)) for row in rows}

    def unembedded(self, model: str, most: int) -> Mapping[int, str]:
        rows = self._rows(sql.UNEMBEDDED, model=kept(model), most=most)
        return {key: said(text) for key, text in rows}

    def embed(self, model: str, keys: Sequence[int], rows: Numbers) -> None:
        import numpy as np  # noqa: PLC0415 - no page loads it before a document is looked through

        # A key that is named twice has its last vector.
        given = {int(key): np.asarray(row, np.float32) for key, row in zip(keys, rows, strict=True)}
        if not given:
            return
        size = len(next(iter(given.values())))
        self._writer.ask(
            Alone(
                lambda connection: self._run(
                    connection,
                    sql.EMBED,
                    model=kept(model),
                    size=size,
                    chunks=list(given),
                    vectors=[row.tobytes() for row in given.values()],
                )
            )
        )

    def forget_vectors(self) -> None:
        self._writer.ask(Alone(lambda connection: self._run(connection, sql.FORGET_VECTORS)))

    def vectors(self, model: str, scope: SearchScope) -> Iterator[Vectors]:
        import numpy as np  # noqa: PLC0415 - no page loads it before a document is looked through

        after, given = 0, {"model": kept(model), **_reach(scope)}
        while rows := self._rows(sql.VECTORS, after=after, most=_BATCH, **given):
            after = rows[-1][0]
            keys = np.array([key for key, _ in rows], np.int64)
            yield Vectors(keys, np.stack([np.frombuffer(vector, np.float32) for _, vector in rows]))

    def vector_sizes(self) -> Mapping[str, int]:
        return {said(model): size for model, size in self._rows(sql.VECTOR_SIZES)}


def _reach(scope: SearchScope) -> dict[str, Any]:
    return {"shelved": scope.workspace, "named": [kept(id) for id in scope.named]}
