"""LexRank (Erkan and Radev, 2004): the lines most like the other lines, by a random walk over their similarities.

The same ranking as sumy's `LexRankSummarizer` (threshold .1, epsilon .1, its tf and idf), without a Python call for
each pair of lines: a meeting of 1,500 lines takes a second and not some minutes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from forky_core.text.words import terms

THRESHOLD = 0.1
EPSILON = 0.1


@lru_cache(maxsize=512)
def ranked(lines: tuple[str, ...]) -> tuple[str, ...]:
    """The lines that have terms, the most central one first; of equals the earlier one."""
    worded = [(line, counts) for line in lines if (counts := Counter(terms(line)))]
    if len(worded) < 2:
        return tuple(line for line, _ in worded)
    scores = _walk(_similar([counts for _, counts in worded]))
    order = np.argsort(-scores, kind="stable")
    return tuple(worded[at][0] for at in order)


def _similar(documents: Sequence[Counter[str]]) -> NDArray[np.bool_]:
    """Which lines have a cosine above the threshold, each term weighed by tf × idf."""
    size = len(documents)
    postings: dict[str, list[tuple[int, float]]] = {}
    for at, counts in enumerate(documents):
        most = max(counts.values())
        for term, count in counts.items():
            postings.setdefault(term, []).append((at, count / most))
    dots = np.zeros((size, size), np.float32)
    for held in postings.values():
        idf = math.log(size / (1 + len(held)))
        rows = np.array([at for at, _ in held])
        weights = np.array([tf * idf for _, tf in held], np.float32)
        dots[np.ix_(rows, rows)] += np.outer(weights, weights)
    lengths = np.sqrt(dots.diagonal())
    with np.errstate(divide="ignore", invalid="ignore"):
        cosines = np.nan_to_num(dots / np.outer(lengths, lengths))
    return np.asarray(cosines > THRESHOLD)


def _walk(similar: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Where a walk from line to similar line is found in the long run."""
    degrees = similar.sum(1)
    steps = similar / np.where(degrees == 0, 1, degrees)[:, None]
    chance = np.full(len(similar), 1 / len(similar))
    while True:
        after = steps.T @ chance
        after /= np.linalg.norm(after)
        if np.linalg.norm(after - chance) <= EPSILON:
            return np.asarray(after)
        chance = after
