"""What a person says matters: how much of it each line of a branch speaks of, by stems, rare words counting more."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from forky_core.retrieval.words import terms


def spoken_of(focus: str, lines: Sequence[str]) -> tuple[float, ...]:
    """For each line the share of the focus that it speaks of, from 0 to 1: of those words that any line says at all."""
    wanted = frozenset(terms(focus))
    if not wanted:
        return (0.0,) * len(lines)
    said = [wanted.intersection(terms(line)) for line in lines]
    holding = Counter(term for one in said for term in one)
    weight = {term: math.log(1 + len(lines) / count) for term, count in holding.items()}
    whole = sum(weight.values()) or 1.0
    return tuple(sum(weight[term] for term in one) / whole for one in said)
