"""Means with intervals, and the tables they stand in: printed as Markdown, written as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SAMPLES = 2_000
_SEED = 1

Values = Mapping[str, Sequence[float]]
"""What was measured, by source."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean with its interval of 95 %."""

    mean: float
    low: float
    high: float
    count: int
    """How many values it is the mean of."""

    @classmethod
    def of(cls, by_source: Values) -> Figure | None:
        """The mean over all values, with a bootstrap that draws whole sources; None where there is no value."""
        sources = [values for values in by_source.values() if len(values)]
        if not sources:
            return None
        sums, counts = (
            np.array([sum(values) for values in sources]),
            np.array([len(values) for values in sources]),
        )
        drawn = np.random.default_rng(_SEED).integers(0, len(sources), (SAMPLES, len(sources)))
        means = sums[drawn].sum(1) / counts[drawn].sum(1)
        low, high = np.quantile(means, (0.025, 0.975))
        return cls(float(sums.sum() / counts.sum()), float(low), float(high), int(counts.sum()))

    def scaled(self, factor: float) -> Figure:
        return Figure(self.mean * factor, self.low * factor, self.high * factor, self.count)

    def __str__(self) -> str:
        digits = 1 if self.high > 1.5 else 2
        return f"{self.mean:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


Cell = Figure | str | None


@dataclass(frozen=True, slots=True)
class Table:
    """What one column of the benchmark measured on one set."""

    title: str
    heads: tuple[str, ...]
    rows: Mapping[str, Sequence[Cell]]
    """By method."""
    note: str = ""
    """A sentence about the set, or why there is nothing."""

    def __str__(self) -> str:
        said = [f"### {self.title}", *([self.note] if self.note else [])]
        if self.rows:
            said.append("")
            said.append(_row(["", *self.heads]))
            said.append(_row(["---"] * (1 + len(self.heads))))
            said += [_row([name, *map(_shown, cells)]) for name, cells in self.rows.items()]
        return "\n".join(said)

    def to_json(self) -> dict[str, Any]:
        rows = {
            name: {head: _plain(cell) for head, cell in zip(self.heads, cells, strict=True)}
            for name, cells in self.rows.items()
        }
        return {"title": self.title, "note": self.note, "rows": rows}


@dataclass(slots=True)
class Tally:
    """Collects values by row, head and source, and makes a table of them."""

    values: dict[str, dict[str, dict[str, list[float]]]] = field(default_factory=dict)

    def add(self, row: str, head: str, source: str, value: float) -> None:
        self.values.setdefault(row, {}).setdefault(head, {}).setdefault(source, []).append(value)

    def figure(self, row: str, head: str, factor: float = 1.0) -> Figure | None:
        found = Figure.of(self.values.get(row, {}).get(head, {}))
        return found.scaled(factor) if found is not None else None

    def table(self, title: str, note: str = "", heads: Iterable[str] = (), factor: float = 1.0) -> Table:
        """A row for each that was added, in that order; `heads` where they are to stand in another one."""
        named = tuple(heads) or tuple(dict.fromkeys(head for row in self.values.values() for head in row))
        rows = {row: [self.figure(row, head, factor) for head in named] for row in self.values}
        return Table(title, named, rows, note)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _shown(cell: Cell) -> str:
    return "" if cell is None else str(cell)


def _plain(cell: Cell) -> Any:
    if isinstance(cell, Figure):
        return {"mean": cell.mean, "low": cell.low, "high": cell.high, "n": cell.count}
    return cell
