"""Fits the coefficients of forky_core/merge/lines/worth.py: `python -m bench.merge_training` prints them.

Two logistic regressions with a ridge, by Newton's method, over many cuts of the sessions with even numbers; the test
split is never read. A line, or a name, counts as needed where the continuation uses it again. Every case weighs the
same, whatever its length.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from bench.merge_cases import LOG, Case, cut, sessions, whole_lines
from forky_core.merge.lines.candidates import Quotable
from forky_core.merge.lines.units import atoms, is_named, plain
from forky_core.merge.lines.worth import LINE_FEATURES, NAME_FEATURES, name_features

WINDOWS = (
    (0.0, 0.5), (0.1, 0.4), (0.1, 0.6), (0.2, 0.5), (0.2, 0.7), (0.3, 0.6),
    (0.35, 0.65), (0.35, 0.85), (0.4, 0.8), (0.5, 0.8), (0.6, 0.9),
)  # fmt: skip
"""More and other cuts than the benchmark's: a coefficient should not hang on where a side begins."""
LEAST_SIDE = 300
RIDGE = 3.0
ROUNDS = 12

Floats = NDArray[np.float64]


def training_cases(without: frozenset[int] = frozenset()) -> list[Case]:
    """Cuts of the sessions with even numbers, less those that a cross-validation leaves out."""
    found: list[Case] = []
    for number, turns in enumerate(sessions(LOG.read_text("utf-8"))):
        if number % 2 == 0 and number not in without:
            found += cut(number, turns, WINDOWS, least_side=LEAST_SIDE, least_needed=1)
    return found


def line_samples(case: Case) -> Iterator[tuple[Sequence[float], bool]]:
    later = {plain(line) for line in whole_lines(case.continuation)}
    for candidate in Quotable.of(case.side, [m.text for m in case.trunk]).candidates:
        yield candidate.features, plain(candidate.unit.text) in later


def name_samples(case: Case) -> Iterator[tuple[Sequence[float], bool]]:
    later = set(atoms(case.continuation))
    reading = Quotable.of(case.side, [m.text for m in case.trunk])
    for atom, use in reading.uses.items():
        if is_named(atom) and atom not in reading.known:
            yield name_features(atom, use, len(case.side)), atom in later


def fit(
    cases: Sequence[Case], samples: Callable[[Case], Iterator[tuple[Sequence[float], bool]]]
) -> tuple[float, ...]:
    """The coefficients, for features as they are."""
    features: list[Sequence[float]] = []
    needed: list[float] = []
    weights: list[float] = []
    for case in cases:
        mine = list(samples(case))
        features += [one for one, _ in mine]
        needed += [float(yes) for _, yes in mine]
        weights += [1 / max(1, sum(yes for _, yes in mine))] * len(mine)
    raw, wanted, weight = np.array(features), np.array(needed), np.array(weights)
    middle, spread = raw.mean(0), raw.std(0) + 1e-9
    middle[0], spread[0] = 0.0, 1.0  # the bias
    found = _newton((raw - middle) / spread, wanted, weight / weight.mean()) / spread
    found[0] -= found @ middle
    return tuple(float(value) for value in found)


def _newton(features: Floats, wanted: Floats, weight: Floats) -> Floats:
    ridge = np.full(features.shape[1], RIDGE)
    ridge[0] = 1e-6
    found = np.zeros(features.shape[1])
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-(features @ found)))
        slope = features.T @ (weight * (chance - wanted)) + ridge * found
        bend = (features * (weight * chance * (1 - chance))[:, None]).T @ features + np.diag(ridge)
        found -= np.linalg.solve(bend, slope)
    return found


def main() -> int:
    cases = training_cases()
    print(f"{len(cases)} cases")
    for title, names, samples in (
        ("NAME_WORTH", NAME_FEATURES, name_samples),
        ("LINE_WORTH", LINE_FEATURES, line_samples),
    ):
        print(f"{title} = (")
        for name, value in zip(names, fit(cases, samples), strict=True):
            print(f"    {value:.2f},  # {name}")
        print(")")
    return 0


if __name__ == "__main__":
    sys.exit(main())
