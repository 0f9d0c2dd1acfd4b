"""Numbers and names of experiments in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from forky_core.model.experiment import Experiment, ExperimentColumn


def column_labels(experiment: Experiment, named: Callable[[str], str]) -> Mapping[str, str]:
    """A name for each column by its id; `named` gives a model's name for people. No two are the same."""
    labels = {column.id: column.label or _made(column, named) for column in experiment.columns}
    often = Counter(labels.values())
    return {
        column.id: f"{labels[column.id]} · {_difference(column)}"
        if often[labels[column.id]] > 1
        else labels[column.id]
        for column in experiment.columns
    }


def _made(column: ExperimentColumn, named: Callable[[str], str]) -> str:
    return named(column.model) if column.model is not None else "Default model"


def _difference(column: ExperimentColumn) -> str:
    """What tells a column from another of the same name: its parameters and id, which is its own."""
    settings = ", ".join(f"{name} {value}" for name, value in sorted(column.parameters.items()))
    return f"{settings[:40]} ({column.id})" if settings else column.id
