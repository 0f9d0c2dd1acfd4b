"""The Bradley–Terry model: from who beat whom how often to a strength for each, with its uncertainty.

The probability that one beats another is 1 / (1 + 10 ** ((its rating − the other's) / 400)), as Elo's. Ties are half a
win for both. Each item has also played four pseudo games against a reference of rating 1500, of which it won two. So an
item that always won is not infinite, and groups that never met can be compared, with as much doubt as there is. With
fewer, two or three unanimous votes would be enough to call somebody better.

Intervals are those of the Bayesian bootstrap (Rubin 1981): each ballot and each pseudo game counts with a random
weight of mean 1. Drawing ballots with replacement would be sure of the result after a single vote.

An interval says how sure the place among the others is: what moves all together, against the reference, is left out of
it. So the intervals of two items lie apart where their difference is beyond doubt.

Solved by Newton's method and not by the MM algorithm, which has the same fixed point (a test compares them) but takes
thousands of steps where two groups of items meet seldom or never.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # numpy is loaded by what counts with it: no page without ratings does.
    from numpy.typing import NDArray

CENTRE = 1500.0
SCALE = 400 / log(10)
"""Points of rating for a factor e of strength."""
RESAMPLINGS = 400
CONFIDENCE = 0.95
_STEPS = 100
_LONGEST_STEP = 2.0
_CLOSE = 1e-7
_LEAST = 1e-3
_PSEUDO = 2.0
"""Pseudo games won, and as many lost."""
_AT_ONCE = 2_000_000
"""Numbers of a matrix of resamplings that are worked on together."""


@dataclass(frozen=True, slots=True)
class Contest:
    """How one item did against another in one ballot."""

    one: int
    other: int
    share: float
    """1.0 if `one` won, 0.5 for a tie."""


@dataclass(frozen=True, slots=True)
class Estimate:
    rating: float
    lower: float
    upper: float


def estimates(
    ballots: Sequence[Sequence[Contest]], items: int, *, seed: int = 0, resamplings: int = RESAMPLINGS
) -> tuple[Estimate, ...]:
    """The rating of each item (0 … items − 1) with its bootstrap interval; the same seed gives the same intervals.

    Whole ballots are weighted, since the contests of one ballot are one person's decision.
    """
    if not items:
        return ()
    import numpy as np  # noqa: PLC0415 - no page loads it before ratings are shown

    # Sorted, so that the result does not depend on the order in which people voted.
    ordered = sorted(sorted((c.one, c.other, c.share) for c in ballot) for ballot in ballots if ballot)
    ballot_of = np.array([at for at, ballot in enumerate(ordered) for _ in ballot], dtype=int)
    rows = np.array([contest for ballot in ordered for contest in ballot], dtype=float).reshape(-1, 3)
    one, other, share = rows[:, 0].astype(int), rows[:, 1].astype(int), rows[:, 2]
    cells, values = (
        np.concatenate((one * items + other, other * items + one)),
        np.concatenate((share, 1 - share)),
    )
    contests = np.concatenate((ballot_of, ballot_of))

    def wins(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        counted = np.bincount(cells, values * weights[contests], minlength=items * items)
        return counted.astype(np.float64).reshape(items, items)

    random = np.random.default_rng(seed)
    count = len(ordered)
    best = _strengths(wins(np.ones(count))[None], np.full((2, 1, items), _PSEUDO))[0]
    drawn = []
    step = max(1, _AT_ONCE // (items * items))
    for first in range(0, resamplings, step):
        many = min(step, resamplings - first)
        weights = random.exponential(1.0, (many, count))
        # The sum of so many random weights; 0 would have no finite solution.
        pseudo = random.gamma(_PSEUDO, 1.0, (2, many, items)) + _LEAST
        drawn.append(_strengths(np.stack([wins(one) for one in weights]), pseudo))
    # The middle of those that were voted on, by how often each was.
    met = np.bincount(np.concatenate((one, other)), minlength=items) if len(rows) else np.zeros(items)
    shares = met / met.sum() if met.any() else met
    samples = np.concatenate(drawn)
    moved = (samples - (samples @ shares)[:, None]) - (best - best @ shares)
    edge = (1 - CONFIDENCE) / 2
    low, high = np.quantile(moved, (edge, 1 - edge), axis=0)
    return tuple(
        Estimate(
            float(CENTRE + SCALE * best[at]),
            float(CENTRE + SCALE * (best[at] + min(low[at], 0.0))),
            float(CENTRE + SCALE * (best[at] + max(high[at], 0.0))),
        )
        for at in range(items)
    )


def _strengths(wins: NDArray[Any], pseudo: NDArray[Any]) -> NDArray[Any]:
    """The logarithms of the strengths that make these wins most likely, for each matrix of a stack.

    `pseudo` has the wins and the losses against the reference.
    """
    import numpy as np  # noqa: PLC0415

    games = wins + wins.swapaxes(1, 2)
    won, played = wins.sum(axis=2) + pseudo[0], pseudo.sum(axis=0)
    theta: NDArray[Any] = np.zeros_like(won)
    diagonal = np.arange(wins.shape[1])
    for _ in range(_STEPS):
        beats = 1 / (1 + np.exp(theta[:, None, :] - theta[:, :, None]))
        above = 1 / (1 + np.exp(-theta))
        slope = won - (games * beats).sum(axis=2) - played * above
        curve = -games * beats * (1 - beats)
        curve[:, diagonal, diagonal] = played * above * (1 - above) - curve.sum(axis=2)
        step = np.linalg.solve(curve, slope[:, :, None])[:, :, 0]
        step = np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
        theta = theta + step
        if np.abs(step).max() < _CLOSE:
            break
    return theta
