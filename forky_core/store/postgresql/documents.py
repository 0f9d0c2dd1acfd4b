"""Documents in PostgreSQL: the contract of document_contract.py over four tables of one workspace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forky_core.model.document import DocumentPiece, Numbers, SearchScope, Vectors
from forky_core.store.base.documents import BATCH, StoredDocuments, batch_of, reach
from forky_core.store.postgresql import statements as sql
from forky_core.store.postgresql.connection import Connection


class PostgresDocuments(StoredDocuments):
    def _take_in(self, session: Connection, pieces: Sequence[DocumentPiece]) -> None:
        for piece in pieces:
            self._take(session, piece)

    def _take(self, connection: Connection, piece: DocumentPiece) -> None:
        one = piece.document
        standing = connection.rows(sql.LOCK_DOCUMENT, id=one.id)
        if standing == [(True,)]:
            return
        if standing and (not piece.chunks or piece.chunks[0].number == 1):
            self._drop(connection, [one.id])
            standing = []
        if not standing:
            connection.rows(
                sql.ADD_DOCUMENT,
                id=one.id,
                name=one.name,
                media_type=one.media_type,
                size=one.size,
                added=one.added,
                shelf=one.shelf,
            )
        chunks = piece.chunks
        keys = {
            number: key
            for key, number in connection.rows(
                sql.ADD_CHUNKS,
                document=one.id,
                numbers=[chunk.number for chunk in chunks],
                places=[chunk.place for chunk in chunks],
                texts=[chunk.text for chunk in chunks],
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
            connection.rows(
                sql.ADD_POSTINGS,
                document=one.id,
                terms=terms,
                chunks=owners,
                frequencies=frequencies,
            )
        connection.rows(
            sql.GROW_DOCUMENT,
            id=one.id,
            whole=piece.last,
            chunks=len(chunks),
            terms=sum(chunk.length for chunk in chunks),
        )

    def _postings(self, session: Connection, **given: Any) -> Sequence[Numbers]:
        import numpy as np  # noqa: PLC0415 - no page loads it before a document is looked through

        return list(np.array(session.rows(sql.POSTINGS, **given), np.int64).reshape(-1, 4).T)

    def _embed(self, session: Connection, model: str, vectors: Mapping[int, Numbers]) -> None:
        given = {"chunks": list(vectors), "vectors": [one.tobytes() for one in vectors.values()]}
        session.rows(sql.EMBED, model=model, size=len(next(iter(vectors.values()))), **given)

    def vectors(self, model: str, scope: SearchScope) -> Iterator[Vectors]:
        after, given = 0, {"model": model, **reach(scope)}
        while rows := self._database.rows(sql.VECTORS, after=after, most=BATCH, **given):
            after = rows[-1][0]
            yield batch_of(rows)
