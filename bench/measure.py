"""Two sides of a comparison, timed in turns in one run, and a line that says whether the goal is met.

Milliseconds differ from machine to machine and hour to hour; the ratio of medians taken in turns hardly does.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

import psutil

_NOTABLE = 0.05
"""Part of the processors' time."""


class _Machine:
    """What other machines on the same host take of the processors (Linux: `steal` in /proc/stat)."""

    def __init__(self) -> None:
        self._seen = psutil.cpu_times()

    def stolen(self) -> float:
        """Part of the time since the last call, from 0 to 1; 0 where the system does not say."""
        before, self._seen = self._seen, psutil.cpu_times()
        taken = getattr(self._seen, "steal", 0.0) - getattr(before, "steal", 0.0)
        return float(taken / max(sum(self._seen) - sum(before), 1e-9))


_machine = _Machine()


@dataclass(frozen=True, slots=True)
class Line:
    """One comparison: `ours` and `theirs` in the same unit, `goal` the ratio to stay below (or to reach).

    Without a goal it is told for comparison only.
    """

    name: str
    ours: float
    theirs: float
    goal: float | None
    unit: str = "ms"
    at_least: bool = False
    """The goal is a least, as for rates: the ratio should be at or above it."""

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs if self.theirs else float("inf")

    @property
    def met(self) -> bool:
        if self.goal is None:
            return True
        return self.ratio >= self.goal if self.at_least else self.ratio <= self.goal

    def __str__(self) -> str:
        if self.goal is None:
            return (
                f"{self.name:<58} {self.ours:>11.3f} {self.theirs:>11.3f} {self.unit:<5} {self.ratio:>9.3f}"
            )
        sign = "≥" if self.at_least else "≤"
        verdict = "ok" if self.met else "MISSED"
        return (
            f"{self.name:<58} {self.ours:>11.3f} {self.theirs:>11.3f} {self.unit:<5}"
            f" {self.ratio:>9.3f} {sign} {self.goal:<8.3f} {verdict}"
        )


HEADING = f"{'what':<58} {'ours':>11} {'theirs':>11} {'':<5} {'ratio':>9}   {'goal':<8} ok?"


@contextmanager
def started() -> Iterator[None]:
    """What there is already is out of the garbage collector's reach, as in the app once it has started
    (ui/streamlit_patches/warmup.py).

    Else each of its full runs walks through what the measurement itself holds, and whoever makes many objects pays.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def elapsed(call: Callable[[], object]) -> float:
    """Milliseconds."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def _nothing() -> None:
    pass


def in_turns(
    calls: Sequence[Callable[[], object]],
    rounds: int,
    *,
    warm_up: int = 2,
    in_a_row: int = 1,
    after: Callable[[], object] = _nothing,
) -> list[float]:
    """The median milliseconds of each call, the calls taking turns; in its turn the first is made `in_a_row` times.

    One short call behind a long one that went through much more memory spends a third of its time on what the long one
    has put out of the processor's caches. `after` each call comes, untimed, what puts things back as they were.
    """
    times: list[list[float]] = [[] for _ in calls]
    for turn in range(warm_up + rounds):
        for at, (call, kept) in enumerate(zip(calls, times, strict=True)):
            for _ in range(1 if at else in_a_row):
                spent = elapsed(call)
                after()
                if turn >= warm_up:
                    kept.append(spent)
    return [median(kept) for kept in times]


def compare(
    name: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    goal: float | None,
    *,
    rounds: int = 30,
    in_a_row: int = 1,
    after: Callable[[], object] = _nothing,
) -> Line:
    """The line of a comparison whose two sides take turns, `in_a_row` calls of ours and one of theirs."""
    mine, other = in_turns([ours, theirs], rounds, in_a_row=in_a_row, after=after)
    return Line(name, mine, other, goal)


def report(lines: Sequence[Line]) -> bool:
    """Print the table; whether every goal is met."""
    print(HEADING)
    for line in lines:
        print(line)
    if (stolen := _machine.stolen()) >= _NOTABLE:
        print(f"Other machines took {stolen:.0%} of the processors meanwhile: take it again when they rest.")
    return all(line.met for line in lines)
