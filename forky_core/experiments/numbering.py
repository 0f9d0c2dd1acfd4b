"""Numbers for new rows and ids for new columns: what a row or column has had is never given to another one.

A branch `<name>/<row>/<column>` that somebody continued outlives its row, and the calls of a removed row stay stored. A
new row with the same number would take them over. The same holds for the ids of columns.
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
    """The highest number of a row that the log or the name of a branch of this experiment has; 0 if there is none.

    The log also has the rows of what was undone.
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
    """The experiment as it can replace `before`, where `highest` is the highest number that a row has had.

    Rows of `before` keep their numbers. A row that is new gets a number of its own, unless its number was never given;
    one that equals a row of `before` is that row, since a file or a program counts from 1 each time.
    """
    known = {row.id: row for row in before.rows} if before is not None else {}
    highest = max(highest, before.last_number if before is not None else 0)
    if all(row.id in known or row.id > highest for row in experiment.rows):
        return replace(experiment, last_number=max(experiment.last_number, highest))
    kept = {row.id for row in experiment.rows}
    equal: dict[str, list[int]] = {}
    for row in reversed(known.values()):
        if row.id not in kept:
            equal.setdefault(_content(row), []).append(row.id)
    last = max(highest, *known) if known else highest
    rows: list[ExperimentRow] = []
    for row in experiment.rows:
        if row.id in known:
            rows.append(row)
        elif found := equal.get(_content(row)):
            rows.append(replace(row, id=found.pop()))
        else:
            last += 1
            rows.append(replace(row, id=last))
    return replace(experiment, rows=rows, last_number=last)


def earlier_columns(name: str, operations: Iterable[Operation]) -> Mapping[str, frozenset[str]]:
    """What the columns that the log has of this experiment asked, by their ids; also of what was undone."""
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
    """The experiment with another id for each new column that has the id of an earlier one which asked something else.

    A column that is added again as it was has its id and its earlier calls again.
    """
    known = {column.id for column in before.columns}
    taken = {column.id for column in experiment.columns} | known | set(earlier)
    columns: list[ExperimentColumn] = []
    for column in experiment.columns:
        id, number = column.id, 1
        if id not in known and _asked(column) not in earlier.get(id, {_asked(column)}):
            while id in taken:
                number += 1
                id = f"{column.id}-{number}"
            taken.add(id)
        columns.append(replace(column, id=id))
    return replace(experiment, columns=columns)


def _asked(column: ExperimentColumn) -> str:
    """The same for columns that ask a row the same."""
    return canonical_json(replace(column, id="", label="", samples=1).stored())


def _content(row: ExperimentRow) -> str:
    """The same for rows that differ in nothing but their number."""
    return canonical_json(replace(row, id=0).stored())
