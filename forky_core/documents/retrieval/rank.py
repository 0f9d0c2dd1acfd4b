"""Ranks passages by their relevance to a question, and measures how much of it they cover.

Okapi BM25 (Robertson & Zaragoza 2009; k1 1.2, b 0.75) scores; coverage (the share of the question's terms that a
passage has, weighted by rarity) decides whether it is an answer at all, because a best match always exists and is often
irrelevant. The passages are ranked once for one question, so nothing is indexed: only the question's terms are counted,
which for a thousand messages is quicker than building an index.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from forky_core.text.words import KIN, terms

_K1 = 1.2
_B = 0.75
_KIN_WEIGHT = 0.6
"""The weight of a related word relative to the word itself."""
_FLOOR = 12
"""The smallest number of passages that is assumed, so that rarity means something in a conversation of two messages."""


@dataclass(frozen=True, slots=True)
class Match:
    """How well one text matches a question."""

    index: int
    """The index of the text."""
    score: float
    """BM25; comparable within one ranking only."""
    coverage: float
    """0 to 1: rarity-weighted share of the question's terms that occur in the text."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question's terms with their weights, measured against a collection of texts."""

    weights: dict[str, float]
    mean_length: float

    @classmethod
    def over(cls, text: str, texts: Sequence[str]) -> Question:
        wanted = dict.fromkeys(terms(text))
        n = max(len(texts), _FLOOR)
        seen = Counter(term for other in texts for term in wanted if _frequency(_counts(other), term))
        lengths = [len(terms(other)) for other in texts]
        return cls(
            {term: math.log(1 + (n - seen[term] + 0.5) / (seen[term] + 0.5)) for term in wanted},
            max(1.0, sum(lengths) / len(lengths)) if lengths else 1.0,
        )

    def match(self, text: str, index: int = 0) -> Match:
        counts = _counts(text)
        length = _K1 * (1 - _B + _B * len(terms(text)) / self.mean_length)
        score = covered = 0.0
        for term, weight in self.weights.items():
            frequency = _frequency(counts, term)
            if frequency:
                score += weight * frequency * (_K1 + 1) / (frequency + length)
                covered += weight * min(1.0, frequency)
        total = sum(self.weights.values())
        return Match(index, score, covered / total if total else 0.0)


@lru_cache(maxsize=8192)
def _counts(text: str) -> Counter[str]:
    return Counter(terms(text))


def _frequency(counts: Counter[str], term: str) -> float:
    if term in counts:
        return float(counts[term])
    kin = KIN.get(term)
    return _KIN_WEIGHT if kin and not kin.isdisjoint(counts) else 0.0


def rank(question: str, texts: Sequence[str], limit: int | None = None) -> tuple[Match, ...]:
    """Return the texts that share a term with the question, best first."""
    asked = Question.over(question, texts)
    matches = (asked.match(text, index) for index, text in enumerate(texts))
    best = sorted((match for match in matches if match.score > 0), key=lambda match: -match.score)
    return tuple(best[:limit])
