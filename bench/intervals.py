"""A mean with its interval, where several measurements come from one source."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

SAMPLES = 2_000


def interval(by_session: Mapping[int, Sequence[float]], seed: int = 1) -> tuple[float, float, float]:
    """The mean, and the 95 % interval of a bootstrap that draws whole sessions: their cases are no independent ones."""
    draw = random.Random(seed)
    clusters = list(by_session.values())
    means = sorted(mean(draw.choices(clusters, k=len(clusters))) for _ in range(SAMPLES))
    return mean(clusters), means[int(0.025 * SAMPLES)], means[int(0.975 * SAMPLES) - 1]


def mean(clusters: Iterable[Sequence[float]]) -> float:
    flat = [value for cluster in clusters for value in cluster]
    return sum(flat) / len(flat)
