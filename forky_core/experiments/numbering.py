"""Assigns numbers to new rows and ids to new columns, and never uses those of a former row or column again.

A branch `<name>/<row>/<column>` that somebody continued outlives its row, and the calls of a removed row stay stored. A
new row with the same number would get them. The same holds for the ids of columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from forky_core.model import Operation, View
from forky_core.model.experiment import (
    EXPERIMENTS,
    HIGHEST_NUMBER,
    ROWS,
    Experiment,
    ExperimentColumn,
    ExperimentRow,
)
from forky_core.model.parts import canonical_json


def highest_number(name: str, operations: Iterable[Operation], view: View) -> int:
    """Return the highest number of a row in the log or in the name of a branch of this experiment; 0 if there is none.

    The log includes rows that were undone.
    """
    rows, branches = f"{ROWS}{name}/", f"{name}/"
    found: list[int] = []
    for operation in operations:
        for change in operation.changes:
            stored: Any = change.after
            if stored and change.key.startswith(rows):
                found += [int(row["id"]) for row in stored]
    numbers = (
        branch.removeprefix(branches).partition("/")[0]
        for branch in view.branches
        if branch.startswith(branches)
    )
    found += [int(number) for number in numbers if number.isdecimal()]
    return max((number for number in found if number < HIGHEST_NUMBER), default=0)


def with_new_numbers(experiment: Experiment, before: Experiment | None, highest: int) -> Experiment:
    """Return the experiment with numbers that can replace `before`; `highest` is the highest number that a row has had.

    Rows of `before` keep their numbers. A new row gets a new number if its own was used before, but a new row with the
    content of a row of `before` is that row, because files and programs number their rows from 1 each time.
    """
    former = {row.id: row for row in before.rows} if before is not None else {}
    highest = max(highest, before.last_number if before is not None else 0)
    if all(row.id in former or row.id > highest for row in experiment.rows):
        return replace(experiment, last_number=max(experiment.last_number, highest))
    kept = {row.id for row in experiment.rows}
    equal: dict[str, list[int]] = {}
    for row in reversed(former.values()):
        if row.id not in kept:
            equal.setdefault(_content(row), []).append(row.id)
    last = max(highest, *former) if former else highest
    rows: list[ExperimentRow] = []
    for row in experiment.rows:
        if row.id in former:
            rows.append(row)
        elif found := equal.get(_content(row)):
            rows.append(replace(row, id=found.pop()))
        else:
            last += 1
            rows.append(replace(row, id=last))
    return replace(experiment, rows=rows, last_number=last)


def earlier_columns(name: str, operations: Iterable[Operation]) -> Mapping[str, frozenset[str]]:
    """Return what each column in the log of this experiment asked, by its id; the log includes undone columns."""
    found: dict[str, set[str]] = {}
    for operation in operations:
        for change in operation.changes:
            stored: Any = change.after
            if stored and change.key == f"{EXPERIMENTS}{name}":
                for entry in stored.get("columns", ()):
                    column = ExperimentColumn.from_stored(entry)
                    found.setdefault(column.id, set()).add(_asked(column))
    return {id: frozenset(asked) for id, asked in found.items()}


def with_new_ids(
    experiment: Experiment, before: Experiment, earlier: Mapping[str, frozenset[str]]
) -> Experiment:
    """Return the experiment with another id for each new column whose id belongs to an earlier column that asked
    something else.

    A column that is added again unchanged gets its id and its earlier calls back.
    """
    present = {column.id for column in before.columns}
    used = {column.id for column in experiment.columns} | present | set(earlier)
    columns: list[ExperimentColumn] = []
    for column in experiment.columns:
        id, number = column.id, 1
        if id not in present and _asked(column) not in earlier.get(id, {_asked(column)}):
            while id in used:
                number += 1
                id = f"{column.id}-{number}"
            used.add(id)
        columns.append(replace(column, id=id))
    return replace(experiment, columns=columns)


def _asked(column: ExperimentColumn) -> str:
    """Return a key that is equal for columns that ask the same of each row."""
    return canonical_json(replace(column, id="", label="", samples=1).stored())


def _content(row: ExperimentRow) -> str:
    """Return a key that is equal for rows that differ only in their number."""
    return canonical_json(replace(row, id=0).stored())
