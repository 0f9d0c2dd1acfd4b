"""Finds chunks for a question: always by words, and by meaning too if an embedding model is set up.

Two rankings are joined by reciprocal rank, Σ 1/(60 + rank) (Cormack, Clarke & Büttcher, SIGIR 2009): it needs no common
scale. The ranking by words gives the share of a question that a chunk covers; only that can tell an answer from a best
match, which always exists.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from forky_core.documents.retrieval import bm25
from forky_core.documents.retrieval.parts_asked import parts_asked
from forky_core.llm.contract import Passage
from forky_core.model.document import ADDRESS, Chunk, Document, DocumentId, Numbers, SearchScope, source_of
from forky_core.model.errors import BadContent
from forky_core.store.document_contract import DocumentKeeper

_LEAST = 0.25
"""Coverage below which a chunk is no answer: a best match always exists, and is often irrelevant."""
_LEAST_OF_PART = 0.375
"""The same threshold for a part of a question: it is short, so that a word or two cover much of it."""
_DIGITS = 16
"""Digits of a document's id in an address."""
_RANK = 60
_HEADING = re.compile(r"^#{1,6}\s+", re.MULTILINE)
_POOL = 50
"""Chunks taken from each ranking before they are joined."""


class Embedder(Protocol):
    """Turns texts into vectors (llm/embedding.py)."""

    @property
    def name(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> Numbers:
        """float32, a row of length 1 for each text. Raises ModelError."""
        ...


@dataclass(frozen=True, slots=True)
class FoundChunk:
    """A chunk that is relevant to a question."""

    document: Document
    chunk: Chunk
    score: float
    """Comparable only within one search."""
    coverage: float
    """The share of the question's words that it contains, 0 to 1; 0.0 if it was found only by meaning."""
    of_part: float = 0.0
    """The same for the part of the question that it covers best, if the question has several parts."""

    @property
    def source(self) -> str:
        """A name of the place for people: "manual.pdf, page 12"."""
        return source_of(self.document.name, self.chunk.place)

    @property
    def bears(self) -> bool:
        """Whether it is worth offering as an answer: found by meaning, or containing enough of the question's words."""
        return self.coverage >= _LEAST or self.coverage == 0.0 or self.of_part >= _LEAST_OF_PART

    @property
    def excerpt(self) -> str:
        """Its text for a list: without the overlap with the previous chunk and without heading marks."""
        text = self.chunk.text[self.chunk.overlap :]
        return _HEADING.sub("", text) if self.document.media_type == "text/markdown" else text

    @property
    def address(self) -> str:
        return address(self.document.id, self.chunk.number)

    @property
    def passage(self) -> Passage:
        return Passage(self.chunk.text, self.source, "document")


def address(document: DocumentId, number: int) -> str:
    """The address of a chunk, which can be put into any text: `doc:3f2a…#12`."""
    return f"{ADDRESS}{document[:_DIGITS]}#{number}"


def split_address(text: str) -> tuple[str, int]:
    """Split an address into (the beginning of the document's id, the chunk's number). Raises ValueError for other
    texts.
    """
    id, _, number = text.removeprefix(ADDRESS).partition("#")
    if not text.startswith(ADDRESS) or not id:
        raise ValueError(text)
    return id, int(number or 1)


def search(
    keeper: DocumentKeeper, question: str, scope: SearchScope, n: int, embedder: Embedder | None = None
) -> tuple[FoundChunk, ...]:
    """The best `n` chunks within reach, best first; each part of a question has its best chunk among them."""
    wanted = bm25.question_terms(question)
    parts = [bm25.question_terms(part) for part in parts_asked(question)]
    pool = max(n, _POOL) if embedder is not None or parts else n
    postings = keeper.postings(wanted, scope) if wanted else None
    by_words = bm25.rank(wanted, postings, pool) if postings else ()
    by_part = [bm25.rank(part, postings.of(part), pool) for part in parts] if postings else []
    scores = {hit.key: hit.score for hit in by_words}
    if embedder is not None:
        by_meaning = _nearest(keeper, embedder, question, scope, pool)
        scores = fused([list(scores), by_meaning])
    coverage = {hit.key: hit.coverage for hit in by_words}
    of_part: dict[int, float] = {}
    for hit in sorted((hit for hits in by_part for hit in hits), key=lambda hit: hit.coverage):
        of_part[hit.key] = hit.coverage
        coverage.setdefault(hit.key, hit.coverage)
    leads = list(
        dict.fromkeys(hits[0].key for hits in by_part if hits and hits[0].coverage >= _LEAST_OF_PART)
    )
    others = sorted(scores.keys() - leads, key=lambda key: -scores[key])
    best = sorted((*leads, *others)[: max(n, 0)], key=lambda key: -scores.get(key, 0.0))
    kept = keeper.found(best) if best else {}
    return tuple(
        FoundChunk(*kept[key], scores.get(key, 0.0), coverage.get(key, 0.0), of_part.get(key, 0.0))
        for key in best
        if key in kept
    )


def fused(rankings: Iterable[Sequence[int]]) -> dict[int, float]:
    """The keys of several rankings with their joint scores."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + 1 / (_RANK + rank)
    return scores


def changed_size(model: str, *, had: int, has: int) -> BadContent:
    return BadContent(
        f"The embedding model “{model}” gives {has} numbers for a text now; the documents here were embedded with {had}.",
        "Have them embedded again, or name another model; until then words alone decide what is found.",
    )


def _nearest(
    keeper: DocumentKeeper, embedder: Embedder, question: str, scope: SearchScope, n: int
) -> list[int]:
    """Keys of the chunks whose vectors lie nearest to the question's, nearest first."""
    near: list[tuple[float, int]] = []
    asked: Numbers | None = None
    for batch in keeper.vectors(embedder.name, scope):
        if asked is None:
            asked = embedder.embed([question])[0]
        if batch.rows.shape[1] != len(asked):
            raise changed_size(embedder.name, had=batch.rows.shape[1], has=len(asked))
        cosine = batch.rows @ asked
        near += zip(cosine.tolist(), batch.chunk.tolist(), strict=True)
        near = sorted(near, reverse=True)[:n]
    return [key for _, key in near]
