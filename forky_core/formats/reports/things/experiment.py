"""The report of an experiment: a grid of questions and models, with the verdict of every check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from forky_core.experiments.cells import CellResult
from forky_core.experiments.checks.registry import title
from forky_core.experiments.experiments import Experiments
from forky_core.experiments.exporting.data import CELL_HEAD, cell_rows
from forky_core.experiments.exporting.facts import dollars, seconds, share, state
from forky_core.experiments.plan import title_of
from forky_core.experiments.results import ColumnSummary, ExperimentResult
from forky_core.formats.reports.included import EVERYTHING, Included
from forky_core.formats.reports.report import (
    DataTable,
    Leaf,
    Prose,
    Report,
    ReportColumn,
    ReportSection,
    Sentences,
    SideBySide,
    Value,
)
from forky_core.formats.reports.things.material import Material
from forky_core.model.errors import BadContent, NotFound, there_are
from forky_core.model.experiment import CellAddress, ExperimentRow
from forky_core.text.counting import counted

_SIGNS = {True: "✓ passes", False: "✗ fails", None: "· no verdict"}
_COSTS = ("cost", "prompt_tokens", "completion_tokens", "seconds")


class ExperimentThing:
    """Reports the experiment that `which` names, or the only one of the conversation."""

    name: ClassVar[str] = "experiment"
    label: ClassVar[str] = "Experiment"
    takes: ClassVar[str] = "its name; without one, the only experiment of the conversation"

    def report(self, material: Material, which: Sequence[str]) -> Report:
        """Raises NotFound if there is no such experiment, and BadContent if its name is needed."""
        experiments = Experiments(material.chat)
        return experiment_report(experiments.result(_named(experiments, which)), material.included)


def experiment_report(result: ExperimentResult, included: Included = EVERYTHING) -> Report:
    """Return the report of an experiment's results."""
    if not included.rules:
        result = replace(result, columns=tuple(_without_parameters(one) for one in result.columns))
    experiment = result.experiment
    costs = f", {dollars(result.cost)}" if included.costs else ""
    size = f"{counted(len(experiment.rows), 'row')} × {counted(len(experiment.columns), 'column')}"
    about = (
        experiment.about,
        f"{size}, {counted(result.calls, 'call')}{costs}.",
        result.verdict,
        result.agreement.sentence if result.agreement is not None else "",
        *result.warnings,
    )
    return Report(
        ExperimentThing.name,
        experiment.name,
        tuple(filter(None, about)),
        (_summary(result, costs=included.costs), *(_row(result, row) for row in experiment.rows)),
        _table(result, costs=included.costs),
    )


def _without_parameters(column: ColumnSummary) -> ColumnSummary:
    """Replace the parameters of calls in the automatic label of a column by the column's id."""
    model, separator, _ = column.label.rpartition(" · ")
    if separator and not column.column.label:
        return replace(column, label=f"{model} · {column.column.id}")
    return column


def _table(result: ExperimentResult, *, costs: bool) -> DataTable:
    columns = [at for at, name in enumerate(CELL_HEAD) if costs or name not in _COSTS]
    return DataTable(
        tuple(CELL_HEAD[at] for at in columns),
        tuple(tuple(row[at] for at in columns) for row in cell_rows(result)),
    )


def _named(experiments: Experiments, which: Sequence[str]) -> str:
    names = experiments.names
    if which:
        if which[0] not in experiments:
            raise NotFound(
                f"There is no experiment “{which[0][:80]}” in this conversation.", there_are(names)
            )
        return which[0]
    if len(names) != 1:
        what = "There are several experiments." if names else "There is no experiment in this conversation."
        raise BadContent(what, there_are(names) or "Begin one on the Experiments page.")
    return names[0]


def _summary(result: ExperimentResult, *, costs: bool) -> ReportSection:
    figures = ("Cost", "Tokens", "Median time") if costs else ()
    head = ("Column", "Passes (95 %)", "Answered", *figures, "Open")
    rows = tuple(
        (
            column.label,
            share(column),
            f"{column.answered:,} of {column.cells:,}",
            *(_costs(column) if costs else ()),
            state(column) or "–",
        )
        for column in result.columns
    )
    sentences = tuple(one.sentence for one in result.comparisons) if len(result.comparisons) > 1 else ()
    return ReportSection("Columns", (DataTable(head, rows), *((Sentences(sentences),) if sentences else ())))


def _costs(column: ColumnSummary) -> tuple[Value, ...]:
    tokens = f"{column.prompt_tokens + column.completion_tokens:,}"
    return dollars(column.cost), tokens, seconds(column.seconds)


def _row(result: ExperimentResult, row: ExperimentRow) -> ReportSection:
    columns = []
    asked = ""
    for column in result.columns:
        for sample in range(1, column.column.samples + 1):
            cell = result.cells[CellAddress(row.id, column.column.id, sample)]
            asked = asked or cell.question.text
            more = f", sample {sample}" if column.column.samples > 1 else ""
            columns.append(ReportColumn(f"{column.label}{more}", _SIGNS[cell.passed], _answer(cell)))
    return ReportSection(f"{row.id}. {title_of(row)[:120]}", (Prose(asked), SideBySide(tuple(columns))))


def _answer(cell: CellResult) -> tuple[Leaf, ...]:
    """Return the blocks for the answer of a cell and the verdicts on it."""
    lines = [
        f"{_SIGNS[one.verdict.passed]}: {title(one.check)}: {one.verdict.reason}" for one in cell.verdicts
    ]
    if cell.mark is not None:
        lines.append(f"{cell.mark.by} says: {'good' if cell.mark.passed else 'bad'}")
    if cell.status != "done":
        lines.append(cell.reply.why or "Not asked yet.")
    text: tuple[Leaf, ...] = (Prose(cell.text),) if cell.text.strip() else ()
    return (*text, *((Sentences(tuple(lines)),) if lines else ()))
