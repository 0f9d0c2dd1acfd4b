"""Okapi BM25 over a store's postings: which chunks are relevant to a question, and how much of it each covers.

score(chunk) = Σ idf(t) · f·(k1+1) / (f + k1·(1 − b + b·length/mean)), idf(t) = ln(1 + (N − n + ½)/(n + ½)) (Robertson &
Zaragoza, “The Probabilistic Relevance Framework”, 2009; k1 1.5, b 0.75). N, n and the mean are those of the documents
within reach, so documents a person cannot see do not affect their ranking. On Cranfield it ranks better than bm25s and
SQLite's FTS5, which know nothing of word stems (docs/numbers.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

from forky_core.model.document import Numbers, Postings
from forky_core.text.words import terms

_K1 = 1.5
_B = 0.75
_FLOOR = 12
"""The smallest number of chunks that is assumed, so that rarity means something among three of them."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """One chunk for one question."""

    key: int
    """The chunk's key in the store."""
    score: float
    """Comparable within one ranking only."""
    coverage: float
    """0 to 1: rarity-weighted share of the question's terms that occur in it."""


@lru_cache(maxsize=65536)
def term_number(term: str) -> int:
    """Return 64 bits of the term's hash, signed, under which postings are stored. Two of a million terms collide once
    in 10⁷.
    """
    return int.from_bytes(
        blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True
    )


def term_counts(text: str) -> Mapping[int, int]:
    """Return how often each term of a text occurs, by term number."""
    return Counter(map(term_number, terms(text)))


def question_terms(question: str) -> tuple[int, ...]:
    """Return the numbers of a question's terms, each once."""
    return tuple(dict.fromkeys(map(term_number, terms(question))))


def rank(wanted: Sequence[int], postings: Postings, n: int) -> tuple[Ranked, ...]:
    """Return the `n` best chunks for these terms, best first; of equal ones the earlier."""
    if not len(postings.chunk) or n < 1:
        return ()
    import numpy as np  # noqa: PLC0415 - the first page does without it

    order = np.argsort(np.array(wanted, np.int64))
    at = order[np.searchsorted(np.array(wanted, np.int64), postings.term, sorter=order)]
    spread = np.bincount(at, minlength=len(wanted))
    rarity = np.log(1 + (max(postings.chunks, _FLOOR) - spread + 0.5) / (spread + 0.5))
    frequency = postings.frequency.astype(np.float64)
    norm = _K1 * (1 - _B + _B * postings.length / max(postings.mean_length, 1e-9))
    weights = rarity[at] * frequency * (_K1 + 1) / (frequency + norm)
    first = int(postings.chunk.min())
    place = postings.chunk - first
    scores = np.bincount(place, weights)
    covered = np.bincount(place, rarity[at])
    best = _best(scores, n)
    total = float(rarity.sum())
    return tuple(Ranked(int(i) + first, float(scores[i]), float(covered[i] / total)) for i in best)


def _best(scores: Numbers, n: int) -> list[int]:
    """Return the positions of the largest scores above 0."""
    import numpy as np  # noqa: PLC0415 - the first page does without it

    least = np.partition(scores, -n)[-n] if n < len(scores) else 0.0
    among = np.flatnonzero((scores >= least) & (scores > 0))
    return [int(i) for i in among[np.argsort(-scores[among], kind="stable")][:n]]
