"""Validates an experiment from a person, a page, a file or a program, or refuses it with a sentence."""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType

from forky_core.conversation.identity import branch_name
from forky_core.conversation.validation import fit_model, fit_parameters, fit_text
from forky_core.model.errors import BadContent, BadName
from forky_core.model.experiment import HIGHEST_NUMBER, Experiment, ExperimentColumn, ExperimentRow, RowCheck
from forky_core.model.hashing import mend_json, mend_text

LONGEST_NAME = 40
"""The most characters of an experiment's name, with which the names of its branches begin."""
MOST_ROWS = 20_000
MOST_COLUMNS = 50
LONGEST_COLUMN_ID = 30
"""The most characters of a column's id, which the names of its branches contain."""
MOST_SAMPLES = 50
MOST_CELLS = 100_000
MOST_PARALLEL = 32
MOST_CHECKS = 50
"""The most checks of one row."""
_ROLES = ("user", "assistant")


def fit_experiment(experiment: Experiment) -> Experiment:
    """Return the experiment in the form that is stored.

    Raises:
        BadName: the names of branches cannot begin with its name.
        BadContent: it is too large, or a part of it cannot be stored or asked.
    """
    if len(experiment.rows) > MOST_ROWS:
        raise BadContent(
            f"An experiment has {MOST_ROWS:,} rows at most; this one has {len(experiment.rows):,}.",
            "Split the file, or take a part of it.",
        )
    require_few_columns(len(experiment.columns))
    columns = tuple(_fit_column(column) for column in experiment.columns)
    fit = replace(
        experiment,
        name=fit_name(experiment.name),
        columns=columns,
        rows=tuple(_fit_row(row) for row in experiment.rows),
        checks=tuple(_fit_check(check) for check in experiment.checks),
        about=" ".join(fit_text(experiment.about, "A description").split())[:500],
        judge=fit_model(experiment.judge),
        notes=tuple(mend_text(note)[:500] for note in experiment.notes)[:100],
    )
    if fit.size > MOST_CELLS:
        raise BadContent(
            f"A grid has {MOST_CELLS:,} cells at most; this one has {fit.size:,}.",
            "Take fewer rows or columns.",
        )
    if fit.last_number > HIGHEST_NUMBER:
        raise BadContent(f"The number of a row is {HIGHEST_NUMBER:,} at most.")
    if not 1 <= fit.parallel <= MOST_PARALLEL:
        raise BadContent(f"Between 1 and {MOST_PARALLEL} calls can be made at once.")
    if fit.dollars is not None and not 0 <= fit.dollars < 1e9:
        raise BadContent("A limit of money is an amount of dollars.")
    return fit


def require_few_columns(number: int) -> None:
    """Raise BadContent for more columns than an experiment may have."""
    if number > MOST_COLUMNS:
        raise BadContent(
            f"An experiment has {MOST_COLUMNS} columns at most; this one has {number:,}.",
            "Take fewer models or prompts.",
        )


def fit_name(name: str) -> str:
    """Return the name in a form with which branch names can begin. Raises BadName."""
    fit = branch_name(name)
    if "/" in fit:
        raise BadName("The name of an experiment has no “/”: it is the first part of its branches' names.")
    if len(fit) > LONGEST_NAME:
        raise BadName(f"The name of an experiment has at most {LONGEST_NAME} characters.")
    return fit


def _fit_column(column: ExperimentColumn) -> ExperimentColumn:
    turns = tuple((role, fit_text(text, "A prompt")) for role, text in column.turns)
    if not turns or turns[-1][0] != "user":
        raise BadContent("A prompt ends with what the user says.")
    if any(role not in _ROLES for role, _ in turns):
        raise BadContent("A prompt has messages of user and assistant; the system prompt stands apart.")
    if len(column.id) > LONGEST_COLUMN_ID:
        raise BadContent(
            f"The id of a column has {LONGEST_COLUMN_ID} characters at most; “{column.id[:20]}…” has {len(column.id):,}.",
            "Write a shorter one, or none: then it is made from the label or the model.",
        )
    if not 1 <= column.samples <= MOST_SAMPLES:
        raise BadContent(f"A column asks each row between 1 and {MOST_SAMPLES} times.")
    return replace(
        column,
        model=fit_model(column.model),
        system=fit_text(column.system, "A system prompt"),
        prompt=turns[0][1] if len(turns) == 1 else turns,
        parameters=fit_parameters(column.parameters),
        label=mend_text(" ".join(column.label.split()))[:100],
    )


def _require_number(threshold: float | None) -> None:
    if threshold is not None and not math.isfinite(threshold):
        raise BadContent("A threshold is a number.")


def _fit_row(row: ExperimentRow) -> ExperimentRow:
    _require_number(row.threshold)
    if len(row.checks) > MOST_CHECKS:
        raise BadContent(f"A row has {MOST_CHECKS} checks at most.")
    return replace(
        row,
        question=fit_text(row.question, "A question"),
        variables=MappingProxyType({mend_text(str(k)): mend_json(v) for k, v in row.variables.items()}),
        reference=fit_text(row.reference, "A reference"),
        checks=tuple(_fit_check(check) for check in row.checks),
        label=mend_text(" ".join(row.label.split()))[:200],
    )


def _fit_check(check: RowCheck) -> RowCheck:
    if not check.kind.strip():
        raise BadContent("A check needs a kind.", "docs/experiments.md lists them.")
    if not 0 <= check.weight < math.inf:
        raise BadContent("A check's weight is 0 or more.")
    _require_number(check.threshold)
    return replace(
        check,
        kind=mend_text(check.kind)[:60],
        value=mend_json(check.value),
        label=mend_text(check.label)[:100],
    )
