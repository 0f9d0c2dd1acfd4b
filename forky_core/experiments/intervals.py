"""Intervals for a share of passes: a percentile bootstrap over rows, seeded so that equal results give equal intervals.

It draws rows and not cells, because samples of one row are not independent. Columns are compared on the same draws, row
by row, which can distinguish two models that fail on the same hard rows. If all rows have the same result, there is
nothing to draw from; then the Wilson interval says what so few rows can show (Wilson 1927, eq. 8).

With few rows a bootstrap overstates a difference. So the exact sign test (McNemar's, if each row is asked once) is made
as well: if a difference may be chance, the interval is widened to include zero. It takes at least six rows to
distinguish two columns.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import Any

CONFIDENCE = 0.95
_Z = 1.959963984540054
"""The quantile of the normal distribution for CONFIDENCE."""
_DRAWS = 2_000
_FEW = 1_000
"""With more differing rows than this, the bootstrap needs no sign test."""
_WORK = 1_000_000
"""The most rows that are drawn for one column; with more than 500 rows there are fewer draws."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with the bounds of its 95 % confidence interval."""

    value: float
    low: float
    high: float

    @property
    def text(self) -> str:
        return f"{self.value:.0%} ({self.low:.0%} to {self.high:.0%})"


class Draws:
    """The rows of each draw; all columns of an experiment are measured on the same draws."""

    def __init__(self, rows: int, seed: int = 0) -> None:
        self.rows, self._seed = rows, seed

    @cached_property
    def _draws(self) -> list[itemgetter[Any]]:
        chance = random.Random(self._seed)  # noqa: S311 - reproducible, not secret
        times = max(200, min(_DRAWS, _WORK // self.rows)) if self.rows > 1 else 0
        # An itemgetter of several indices returns a tuple in a fifth of the time of a loop. The draws share the numbers
        # of a list, whereas a range would make new ones.
        places = list(range(self.rows))
        return [itemgetter(*chance.choices(places, k=self.rows)) for _ in range(times)]

    def mean(self, values: Sequence[float | None]) -> Interval | None:
        """Return the mean over rows that have a value; None if none has one."""
        present = [value for value in values if value is not None]
        if not present:
            return None
        mean = sum(present) / len(present)
        if len(set(present)) == 1:
            return wilson(mean, len(present))
        return self._interval(mean, values)

    def difference(self, one: Sequence[float | None], other: Sequence[float | None]) -> Interval | None:
        """Return how much more often the first passes than the second, on the rows that both have; None without
        rows.
        """
        pairs = [
            None if left is None or right is None else left - right
            for left, right in zip(one, other, strict=True)
        ]
        present = [value for value in pairs if value is not None]
        if not present:
            return None
        mean = sum(present) / len(present)
        if len(set(present)) == 1:
            # All rows have the same difference. Then the Wilson interval for so many rows gives the width.
            spread = wilson(1.0, len(present))
            slack = spread.high - spread.low
            found = Interval(mean, max(-1.0, mean - slack), min(1.0, mean + slack))
        else:
            found = self._interval(mean, pairs)
        if _may_be_chance(present, mean):
            return Interval(mean, min(found.low, 0.0), max(found.high, 0.0))
        return found

    def _interval(self, mean: float, values: Sequence[float | None]) -> Interval:
        means = self._means(values)
        low, high = _quantile(means, (1 - CONFIDENCE) / 2), _quantile(means, (1 + CONFIDENCE) / 2)
        return Interval(mean, min(mean, low), max(mean, high))

    def _means(self, values: Sequence[float | None]) -> list[float]:
        """Return the mean of each draw, sorted. Draws without any value are left out."""
        amounts = [0.0 if value is None else value for value in values]
        weights = [0 if value is None else 1 for value in values]
        if all(weights):
            return sorted(sum(draw(amounts)) / self.rows for draw in self._draws)
        drawn = ((sum(draw(amounts)), sum(draw(weights))) for draw in self._draws)
        return sorted(total / number for total, number in drawn if number)


def _may_be_chance(differences: Sequence[float], mean: float) -> bool:
    """Whether the direction of the mean may be chance, according to the two-sided sign test."""
    differing = [value for value in differences if value]
    count = len(differing)
    if count > _FEW:
        return False
    against = sum((value > 0) != (mean > 0) for value in differing)
    tail = sum(math.comb(count, number) for number in range(against + 1))
    return tail / 2 ** (count - 1) > 1 - CONFIDENCE if count else True


@lru_cache(maxsize=2)
def draws_of(rows: int, seed: int) -> Draws:
    """Return the draws of an experiment with so many rows."""
    return Draws(rows, seed)


def wilson(share: float, count: int) -> Interval:
    """Return the Wilson score interval of a share of `count`."""
    if not count:
        return Interval(share, 0.0, 1.0)
    square = _Z * _Z
    middle = (share + square / (2 * count)) / (1 + square / count)
    half = _Z / (1 + square / count) * math.sqrt(share * (1 - share) / count + square / (4 * count * count))
    return Interval(share, max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half)))


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
