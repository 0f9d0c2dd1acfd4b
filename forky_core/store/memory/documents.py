"""The reference implementation for documents: the contract in dictionaries under one lock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import RLock

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
from forky_core.store.deciding import known_document, no_document
from forky_core.store.moving.contract import StoredChunk


@dataclass(slots=True)
class _Kept:
    document: Document
    keys: list[int] = field(default_factory=list)


class MemoryDocuments:
    """A `DocumentKeeper` in memory; its documents are gone when the process ends."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._kept: dict[DocumentId, _Kept] = {}
        self._chunks: dict[int, tuple[DocumentId, Chunk]] = {}
        self._vectors: dict[int, tuple[str, Numbers]] = {}
        self._last = 0

    def take_in(self, pieces: Sequence[DocumentPiece]) -> None:
        with self._lock:
            for piece in pieces:
                self._take(piece)

    def _take(self, piece: DocumentPiece) -> None:
        kept = self._kept.get(piece.document.id)
        if kept is not None and kept.document.whole:
            return
        if kept is not None and (not piece.chunks or piece.chunks[0].number == 1):
            self.drop([piece.document.id])
            kept = None
        if kept is None:
            kept = _Kept(replace(piece.document, whole=False, chunks=0, terms=0))
            self._kept[piece.document.id] = kept
        for chunk in piece.chunks:
            self._last += 1
            self._chunks[self._last] = (piece.document.id, chunk)
            kept.keys.append(self._last)
        kept.document = replace(
            kept.document,
            whole=piece.last,
            chunks=kept.document.chunks + len(piece.chunks),
            terms=kept.document.terms + sum(chunk.length for chunk in piece.chunks),
        )

    def shelve(self, document: DocumentId, shelf: Shelf) -> None:
        with self._lock:
            if document not in self._kept:
                raise no_document(document)
            kept = self._kept[document]
            kept.document = replace(kept.document, shelf=shelf)

    def drop(self, documents: Sequence[DocumentId]) -> None:
        with self._lock:
            for id in documents:
                kept = self._kept.pop(id, None)
                for key in kept.keys if kept else ():
                    del self._chunks[key]
                    self._vectors.pop(key, None)

    def document(self, id: str) -> Document:
        with self._lock:
            found = [kept.document for kept in self._kept.values() if kept.document.id.startswith(id.lower())]
        return known_document(id, found)

    def documents(self) -> tuple[Document, ...]:
        with self._lock:
            found = [kept.document for kept in reversed(self._kept.values())]
        return tuple(sorted(found, key=lambda document: -document.added))

    def known(self, ids: Sequence[DocumentId]) -> Mapping[DocumentId, Document]:
        with self._lock:
            return {id: self._kept[id].document for id in ids if id in self._kept}

    def _reached(self, scope: SearchScope) -> list[_Kept]:
        return [
            kept
            for kept in self._kept.values()
            if kept.document.whole
            and (
                (scope.workspace and kept.document.shelf == "workspace")
                or kept.document.id in set(scope.named)
            )
        ]

    def within(self, scope: SearchScope) -> tuple[int, int]:
        with self._lock:
            reached = self._reached(scope)
            return len(reached), sum(kept.document.chunks for kept in reached)

    def chunks(self, document: DocumentId, *, first: int = 1, most: int | None = None) -> tuple[Chunk, ...]:
        with self._lock:
            keys = self._kept[document].keys if document in self._kept else []
            found = [self._chunks[key][1] for key in keys]
        wanted = [replace(chunk, counts={}) for chunk in found if chunk.number >= first]
        return tuple(wanted if most is None else wanted[: max(most, 0)])

    def stored_chunks(self, document: DocumentId, *, first: int, most: int) -> tuple[StoredChunk, ...]:
        with self._lock:
            keys = self._kept[document].keys if document in self._kept else []
            found = [(key, self._chunks[key][1]) for key in keys]
            wanted = [(key, chunk) for key, chunk in found if chunk.number >= first][: max(most, 0)]
            return tuple(
                StoredChunk(key, chunk, *self._vectors.get(key, ("", None))) for key, chunk in wanted
            )

    def postings(self, terms: Sequence[int], scope: SearchScope) -> Postings:
        with needed_for("Searching documents", "documents"):
            import numpy as np  # noqa: PLC0415 - no page loads it before a document is looked through

        wanted = set(terms)
        with self._lock:
            reached = self._reached(scope)
            rows = [
                (key, term, frequency, chunk.length)
                for kept in reached
                for key in kept.keys
                for chunk in (self._chunks[key][1],)
                for term, frequency in chunk.counts.items()
                if term in wanted
            ]
        count = sum(kept.document.chunks for kept in reached)
        length = sum(kept.document.terms for kept in reached)
        chunks, term, frequency, lengths = np.array(rows, np.int64).reshape(-1, 4).T
        return Postings(chunks, term, frequency, lengths, count, length / count if count else 0.0)

    def found(self, keys: Sequence[int]) -> Mapping[int, tuple[Document, Chunk]]:
        with self._lock:
            held = {key: self._chunks[key] for key in map(int, keys) if key in self._chunks}
            return {
                key: (self._kept[id].document, replace(chunk, counts={})) for key, (id, chunk) in held.items()
            }

    def unembedded(self, model: str, most: int) -> Mapping[int, str]:
        with self._lock:
            open_keys = (
                (key, self._chunks[key][1].text)
                for kept in self._kept.values()
                if kept.document.whole and kept.document.shelf != "trash"
                for key in kept.keys
                if self._vectors.get(key, ("",))[0] != model
            )
            return dict(sorted(open_keys)[:most])

    def embed(self, model: str, keys: Sequence[int], rows: Numbers) -> None:
        import numpy as np  # noqa: PLC0415 - no page loads it before a document is looked through

        with self._lock:
            for key, row in zip(map(int, keys), rows, strict=True):
                if key in self._chunks:
                    self._vectors[key] = (model, np.asarray(row, np.float32))

    def forget_vectors(self) -> None:
        with self._lock:
            self._vectors.clear()

    def vectors(self, model: str, scope: SearchScope) -> Iterator[Vectors]:
        import numpy as np  # noqa: PLC0415 - no page loads it before a document is looked through

        with self._lock:
            found = [
                (key, self._vectors[key][1])
                for kept in self._reached(scope)
                for key in kept.keys
                if self._vectors.get(key, ("",))[0] == model
            ]
        if found:
            yield Vectors(np.array([key for key, _ in found]), np.stack([row for _, row in found]))

    def vector_sizes(self) -> Mapping[str, int]:
        with self._lock:
            return {model: len(row) for model, row in self._vectors.values()}
