"""The results of an experiment so far: each column's share of passes with its interval, and comparisons of columns.

A share counts the cells with a verdict. Failed calls are counted separately, and never as passes or failures of an
answer. Two columns are compared on the rows that both have. A column is ahead of another only if the interval of their
difference does not include zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from forky_core.experiments.cells import CellResult
from forky_core.experiments.intervals import Draws, Interval, draws_of, wilson
from forky_core.model import Generation
from forky_core.model.experiment import JUDGE, CellAddress, Experiment, ExperimentColumn
from forky_core.text.counting import counted


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """The numbers of one column: how many of its answers passed, what they cost and how long they took."""

    column: ExperimentColumn
    label: str
    cells: int
    answered: int
    failed: int
    """Cells whose call gave no complete answer."""
    running: int
    waiting: int
    verdicts: int
    """Answered cells that are known to pass or to fail."""
    passes: int
    rate: Interval | None
    """The share of passes with its interval; None without any verdict."""
    score: float | None
    """The mean score of the answers that have one."""
    cost: float | None
    """US dollars of its answers; None if a price is not known."""
    prompt_tokens: int
    completion_tokens: int
    seconds: float | None
    """The median time of a call; None if no call was timed."""
    reused: int
    """Answers that were stored already, so that no model was called."""


@dataclass(frozen=True, slots=True)
class ColumnComparison:
    """By how much the share of passed answers differs between two columns, on the rows that both have."""

    one: ColumnSummary
    other: ColumnSummary
    difference: Interval
    rows: int

    @property
    def is_clear(self) -> bool:
        """Whether the interval of the difference excludes zero."""
        return self.difference.low > 0 or self.difference.high < 0

    @property
    def sentence(self) -> str:
        low, high = self.difference.low * 100, self.difference.high * 100
        amount = self.difference.value * 100
        bounds = f"95 %: {low:+.0f} to {high:+.0f}, {counted(self.rows, 'row')}"
        if not self.is_clear:
            return f"“{self.one.label}” and “{self.other.label}” cannot be told apart: {amount:+.0f} points ({bounds})."
        more = "more" if amount >= 0 else "less"
        return (
            f"“{self.one.label}” passes {abs(amount):.0f} points {more} than “{self.other.label}” ({bounds})."
        )


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often a judge and people gave the same verdict on the same answers."""

    answers: int
    """Answers that both have judged."""
    share: Interval
    kappa: float | None
    """Cohen's κ: 1 is full agreement, 0 is what chance would give; None if one side always gives the same verdict."""

    @property
    def sentence(self) -> str:
        kappa = f", κ {self.kappa:.2f}" if self.kappa is not None else ""
        return f"Judge and people agree on {self.share.text} of {counted(self.answers, 'answer')}{kappa}."


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """An experiment with the results of its cells."""

    experiment: Experiment
    cells: Mapping[CellAddress, CellResult]
    columns: tuple[ColumnSummary, ...]
    comparisons: tuple[ColumnComparison, ...]
    """The column with the highest share against each other one."""
    agreement: Agreement | None
    cost: float
    """US dollars of all its calls with a known price, judges and repetitions included."""
    unpriced: int
    """The number of calls whose price is not known."""
    calls: int
    """The number of all its calls, judges and repetitions included."""
    warnings: tuple[str, ...] = ()

    @property
    def answered(self) -> int:
        return sum(column.answered for column in self.columns)

    @property
    def failed(self) -> int:
        return sum(column.failed for column in self.columns)

    @property
    def open(self) -> tuple[CellAddress, ...]:
        """Cells without a complete answer, failed ones included."""
        return tuple(address for address, cell in self.cells.items() if cell.status != "done")

    @property
    def verdict(self) -> str:
        """A sentence that says which column is ahead, with its interval; "" if there is no verdict yet."""
        rated = [column for column in self.columns if column.rate is not None]
        if not rated:
            return ""
        if len(rated) == 1:
            one = rated[0]
            assert one.rate is not None
            return f"“{one.label}” passes {one.rate.text} of {one.verdicts:,}."
        clear = [one for one in self.comparisons if one.difference.low > 0]
        if len(clear) == len(self.comparisons) and clear:
            closest = min(clear, key=lambda one: one.difference.value)
            return f"Ahead of all others: {closest.sentence}"
        unclear = min(
            (one for one in self.comparisons if one not in clear), key=lambda one: abs(one.difference.value)
        )
        return f"No column is clearly ahead. {unclear.sentence}"


def summarised(
    experiment: Experiment,
    cells: Mapping[CellAddress, CellResult],
    calls: Sequence[Generation],
    labels: Mapping[str, str],
    warnings: tuple[str, ...] = (),
) -> ExperimentResult:
    """Compute the results. `calls` are all calls of the experiment, `labels` the labels of its columns."""
    draws = draws_of(len(experiment.rows), experiment.seed)
    shares: dict[str, list[float | None]] = {}
    columns: list[ColumnSummary] = []
    for column in experiment.columns:
        mine = [
            [cells[CellAddress(row.id, column.id, sample)] for sample in range(1, column.samples + 1)]
            for row in experiment.rows
        ]
        shares[column.id] = [_share([cell.passed for cell in row]) for row in mine]
        flat = [cell for row in mine for cell in row]
        columns.append(_summary(column, labels[column.id], flat, draws.mean(shares[column.id])))
    costs = [call.usage.cost for call in calls if call.status != "running"]
    return ExperimentResult(
        experiment,
        cells,
        tuple(columns),
        _comparisons(columns, shares, draws),
        _agreement(cells),
        sum(cost for cost in costs if cost is not None),
        sum(call.usage.cost is None and call.status == "done" for call in calls),
        len(calls),
        warnings,
    )


def _summary(
    column: ExperimentColumn, label: str, cells: Sequence[CellResult], rate: Interval | None
) -> ColumnSummary:
    done = [cell for cell in cells if cell.status == "done"]
    calls = [cell.call for cell in done if cell.call is not None]
    times = [call.seconds for call in calls if call.seconds is not None and call.reused is None]
    costs = [call.usage.cost for call in calls]
    results = [cell.passed for cell in done]
    return ColumnSummary(
        column,
        label,
        len(cells),
        len(done),
        sum(cell.status == "failed" for cell in cells),
        sum(cell.status == "running" for cell in cells),
        sum(cell.status == "waiting" for cell in cells),
        sum(result is not None for result in results),
        sum(result is True for result in results),
        rate,
        _mean([cell.score for cell in done]),
        None if None in costs else sum(cost for cost in costs if cost is not None),
        sum(call.usage.prompt_tokens or 0 for call in calls),
        sum(call.usage.completion_tokens or 0 for call in calls),
        median(times) if times else None,
        sum(call.reused is not None for call in calls),
    )


def _comparisons(
    columns: Sequence[ColumnSummary], shares: Mapping[str, Sequence[float | None]], draws: Draws
) -> tuple[ColumnComparison, ...]:
    rated = [column for column in columns if column.rate is not None]
    if len(rated) < 2:
        return ()
    best = max(rated, key=lambda column: column.rate.value if column.rate is not None else 0.0)
    made: list[ColumnComparison] = []
    for other in rated:
        if other is best:
            continue
        one, two = shares[best.column.id], shares[other.column.id]
        difference = draws.difference(one, two)
        if difference is not None:
            both = sum(a is not None and b is not None for a, b in zip(one, two, strict=True))
            made.append(ColumnComparison(best, other, difference, both))
    return tuple(made)


def _agreement(cells: Mapping[CellAddress, CellResult]) -> Agreement | None:
    pairs = [
        (one.verdict.passed, cell.mark.passed)
        for cell in cells.values()
        if cell.mark is not None
        for one in cell.verdicts
        if one.check.kind == JUDGE and one.verdict.passed is not None
    ]
    if not pairs:
        return None
    count = len(pairs)
    agreed = sum(judge == person for judge, person in pairs) / count
    judges, people = (sum(bool(pair[at]) for pair in pairs) / count for at in (0, 1))
    chance = judges * people + (1 - judges) * (1 - people)
    kappa = (agreed - chance) / (1 - chance) if chance < 1 else None
    return Agreement(count, wilson(agreed, count), kappa)


def _share(results: Sequence[bool | None]) -> float | None:
    """Return the share of a row's samples with a verdict that pass."""
    return _mean([None if result is None else float(result) for result in results])


def _mean(values: Sequence[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return sum(present) / len(present) if present else None
