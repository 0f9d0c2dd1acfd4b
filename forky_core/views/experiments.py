"""The view model of an experiment: its table, a window of rows at a time, and what the heads of its columns say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from forky_core.experiments.cells import CellResult
from forky_core.experiments.exporting.facts import dollars, seconds, state
from forky_core.experiments.intervals import Interval
from forky_core.experiments.plan import title_of
from forky_core.experiments.results import ColumnSummary, ExperimentResult
from forky_core.model.experiment import CellAddress, ExperimentRow
from forky_core.views.shelf import count

RowFilter = Literal["all", "fail", "differ", "open"]
"""Which rows are shown: `differ`: one column passes and another does not; `open`: something is missing."""
CellState = Literal["pass", "fail", "plain", "running", "failed", "waiting"]
"""`plain`: there is an answer and nothing that says whether it passes."""
_BRIEF = 150
"""Characters of an answer in the table."""


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell as the table shows it."""

    address: CellAddress
    state: CellState
    text: str
    """The beginning of the answer, or why there is none."""
    hint: str
    """What the checks say, and what the answer took."""
    marked: bool | None
    """What a person said of it."""


@dataclass(frozen=True, slots=True)
class ExperimentTableRow:
    id: int
    title: str
    cells: tuple[TableCell, ...]


@dataclass(frozen=True, slots=True)
class TableColumn:
    id: str
    label: str
    samples: int
    rate: Interval | None
    passes: str
    """The share of passes with its interval, in words; "" without a verdict."""
    facts: str
    """Cost, tokens and time."""
    failed: str
    """How many calls failed; "" if none did."""
    open: str
    """What else is missing; "" if nothing is."""


@dataclass(frozen=True, slots=True)
class ExperimentTable:
    """A window of an experiment's rows."""

    columns: tuple[TableColumn, ...]
    rows: tuple[ExperimentTableRow, ...]
    page: int
    """Which window, from 1."""
    pages: int
    fitting: int
    """Rows that fit the filter."""


def table_of(
    result: ExperimentResult, *, only: RowFilter = "all", page: int = 1, size: int = 50
) -> ExperimentTable:
    """The rows that fit, a window at a time."""
    rows = [(row, _cells_of(result, row)) for row in result.experiment.rows]
    fitting = [(row, cells) for row, cells in rows if only == "all" or _fits(cells, only)]
    pages = max(1, -(-len(fitting) // size))
    shown = min(max(page, 1), pages)
    window = fitting[(shown - 1) * size : shown * size]
    return ExperimentTable(
        tuple(_column(column) for column in result.columns),
        tuple(
            ExperimentTableRow(row.id, title_of(row), tuple(_cell(cell) for cell in cells))
            for row, cells in window
        ),
        shown,
        pages,
        len(fitting),
    )


def _cells_of(result: ExperimentResult, row: ExperimentRow) -> list[CellResult]:
    return [
        result.cells[CellAddress(row.id, column.id, sample)]
        for column in result.experiment.columns
        for sample in range(1, column.samples + 1)
    ]


def _fits(cells: Sequence[CellResult], only: RowFilter) -> bool:
    results = {cell.passed for cell in cells}
    if only == "fail":
        return False in results
    if only == "differ":
        return {True, False} <= results
    return any(cell.status != "done" for cell in cells) or None in results


def _column(column: ColumnSummary) -> TableColumn:
    tokens = column.prompt_tokens + column.completion_tokens
    facts = [f"{column.answered:,} of {column.cells:,}"]
    if column.answered:
        facts += [dollars(column.cost), f"{tokens:,} tokens", seconds(column.seconds)]
    if column.reused:
        facts.append(f"{column.reused:,} stored")
    return TableColumn(
        column.column.id,
        column.label,
        column.column.samples,
        column.rate,
        column.rate.text if column.rate is not None else "",
        " · ".join(facts),
        f"{count(column.failed, 'call')} failed" if column.failed else "",
        state(replace(column, failed=0)),
    )


def _cell(cell: CellResult) -> TableCell:
    call = cell.call
    hint = [f"{_SIGNS[one.verdict.passed]} {one.verdict.reason}" for one in cell.verdicts]
    if call is not None and cell.status == "done":
        hint.append(f"{seconds(call.seconds)}, {dollars(call.usage.cost)}")
    said = cell.text if cell.status == "done" else cell.reply.why or _STATES.get(cell.status, "")
    brief = " ".join(_MARKUP.sub("", said[: _BRIEF * 3]).split())
    text = brief if len(brief) <= _BRIEF and len(said) <= _BRIEF * 3 else f"{brief[:_BRIEF].rstrip()}…"
    marked = cell.mark.passed if cell.mark is not None else None
    return TableCell(cell.address, _state(cell), text, "\n".join(hint)[:600], marked)


_MARKUP = re.compile(r"\*\*|__|`+|^\s*(?:#{1,6}|>)\s+", re.MULTILINE)
"""Marks of bold type, code, headings and quotations, which only take room in a cell."""
_SIGNS = MappingProxyType({True: "✓", False: "✗", None: "·"})
_STATES = MappingProxyType({"running": "is answering …", "waiting": ""})


def _state(cell: CellResult) -> CellState:
    if cell.status != "done":
        return cell.status
    return {True: "pass", False: "fail", None: "plain"}[cell.passed]  # type: ignore[return-value]


def size_of(result: ExperimentResult) -> str:
    """For example “100 rows × 8 columns”."""
    experiment = result.experiment
    return f"{count(len(experiment.rows), 'row')} × {count(len(experiment.columns), 'column')}"
