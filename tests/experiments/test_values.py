from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forky_core.conversation.identity import branch_name
from forky_core.experiments.cells import judge_branch
from forky_core.experiments.plan import ExperimentPlan
from forky_core.experiments.validation import (
    LONGEST_COLUMN_ID,
    LONGEST_NAME,
    MOST_ROWS,
    MOST_SAMPLES,
    fit_experiment,
)
from forky_core.formats.forky_file.entries import check_entry
from forky_core.formats.forky_file.lines import BadLine
from forky_core.model import EMPTY_VIEW, Change
from forky_core.model.errors import BadContent, BadName, ForkyError
from forky_core.model.experiment import (
    HIGHEST_NUMBER,
    CellAddress,
    Experiment,
    ExperimentColumn,
    ExperimentRow,
    RowCheck,
    experiment_in,
    is_cell,
)
from tests.experiments.grids import capitals

TEXT = st.text(alphabet=st.characters(codec="utf-8"), max_size=12)
VALUE = st.none() | st.booleans() | st.integers(-9, 9) | TEXT | st.lists(TEXT, max_size=3)
CHECKS = st.builds(
    RowCheck,
    st.sampled_from(["contains", "regex", "judge"]),
    TEXT | st.lists(TEXT, max_size=3),
    st.booleans(),
    st.none() | st.floats(0, 1),
    st.floats(0, 5),
    st.none() | st.just("gpt-4o"),
    TEXT,
)
ROWS = st.builds(
    ExperimentRow,
    TEXT,
    st.dictionaries(TEXT, VALUE, max_size=3).map(MappingProxyType),
    TEXT,
    st.lists(CHECKS, max_size=2).map(tuple),
)
COLUMNS = st.builds(
    ExperimentColumn, st.none() | st.just("gpt-4o"), TEXT, TEXT, samples=st.integers(1, 3), label=TEXT
)
GRIDS = st.builds(
    Experiment,
    st.just("grid"),
    st.lists(ROWS, max_size=5),
    st.lists(COLUMNS, max_size=4),
    st.lists(CHECKS, max_size=2),
)


@given(GRIDS)
def test_an_experiment_is_read_as_it_was_stored(grid: Experiment) -> None:
    fit = fit_experiment(grid)
    view = EMPTY_VIEW.apply([Change(key, None, value) for key, value in fit.entries().items()], 1)
    assert experiment_in(view, "grid") == fit
    for key, value in fit.entries().items():
        check_entry(key, value)
    plan = ExperimentPlan(fit)
    assert len(list(fit.cells)) == fit.size
    assert all(plan.question(cell).messages for cell in fit.cells)
    names = [cell.branch("grid") for cell in fit.cells]
    assert len(set(names)) == len(names) and all(
        is_cell(name, ["grid"]) and len(name) <= 100 for name in names
    )


def test_rows_and_columns_keep_their_numbers() -> None:
    grid = capitals()
    fewer = replace(grid, rows=[grid.rows[0], grid.rows[2], ExperimentRow("New")])
    assert [row.id for row in fewer.rows] == [1, 3, 5]
    without_last = replace(grid, rows=grid.rows[:3])
    assert [row.id for row in replace(without_last, rows=[ExperimentRow("New")]).rows] == [5]
    twice = replace(grid, columns=[*grid.columns, ExperimentColumn("scripted/one", label="One")])
    assert [column.id for column in twice.columns] == ["one", "two", "one-2"]


def test_the_longest_names_of_a_cell_and_its_judge_are_names_of_branches() -> None:
    grid = fit_experiment(
        Experiment(
            "x" * LONGEST_NAME,
            [ExperimentRow("?", id=HIGHEST_NUMBER)],
            [ExperimentColumn(id="y" * LONGEST_COLUMN_ID, samples=MOST_SAMPLES)],
            [RowCheck("judge", "Fine?")],
        )
    )
    cell = CellAddress(HIGHEST_NUMBER, grid.columns[0].id, MOST_SAMPLES)
    for name in (cell.branch(grid.name), judge_branch(grid.name, cell, grid.checks[0])):
        assert branch_name(name) == name


def test_a_thousand_rows_are_stored_in_pieces() -> None:
    grid = capitals(rows=[ExperimentRow(f"What is {n}?") for n in range(1_000)])
    entries = grid.entries()
    assert len(entries) == 11
    changed = replace(
        grid, rows=[*grid.rows[:500], replace(grid.rows[500], question="Other?"), *grid.rows[501:]]
    )
    assert [key for key, value in changed.entries().items() if value != entries[key]] == [
        "experiment-rows/capitals/5"
    ]


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"name": " "}, BadName, "needs a name"),
        ({"name": "a/b"}, BadName, "no “/”"),
        ({"name": "x" * 41}, BadName, "40 characters"),
        ({"rows": [ExperimentRow("?")] * (MOST_ROWS + 1)}, BadContent, "20,001"),
        ({"columns": [ExperimentColumn("a")] * 51}, BadContent, "51"),
        ({"columns": [ExperimentColumn("a", id="x" * 31)]}, BadContent, "30 characters"),
        ({"columns": [ExperimentColumn("a", samples=0)]}, BadContent, "between 1"),
        (
            {"columns": [ExperimentColumn("a", prompt=(("user", "x"), ("assistant", "y")))]},
            BadContent,
            "what the user says",
        ),
        (
            {"columns": [ExperimentColumn("a", prompt=(("tool", "x"), ("user", "y")))]},
            BadContent,
            "user and assistant",
        ),
        ({"columns": [ExperimentColumn("a", parameters={"api_key": "x"})]}, BadContent, "no parameter"),
        ({"parallel": 0}, BadContent, "at once"),
        ({"dollars": -1}, BadContent, "amount"),
        ({"checks": [RowCheck("contains", "x", weight=-1)]}, BadContent, "weight"),
        ({"checks": [RowCheck("contains", "x", weight=float("nan"))]}, BadContent, "weight"),
        ({"checks": [RowCheck("contains", "x", weight=float("inf"))]}, BadContent, "weight"),
        ({"checks": [RowCheck("similar", "x", threshold=float("nan"))]}, BadContent, "threshold"),
        ({"rows": [ExperimentRow("?", threshold=float("inf"))]}, BadContent, "threshold"),
        ({"checks": [RowCheck(" ")]}, BadContent, "kind"),
        ({"rows": [ExperimentRow("?", id=10**10)]}, BadContent, "number"),
        (
            {"rows": [ExperimentRow("?")] * 20_000, "columns": [ExperimentColumn("a", samples=6)]},
            BadContent,
            "120,000",
        ),
    ],
)
def test_what_cannot_be_kept_is_refused(changes: dict[str, Any], error: type[ForkyError], says: str) -> None:
    with pytest.raises(error, match=says):
        fit_experiment(capitals(**changes))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("experiments/x", {"columns": []}),
        ("experiments/x/y", {"columns": [], "rows": 0}),
        ("experiments/x", {"columns": [{"id": "a", "samples": 10**9}], "rows": 0}),
        ("experiments/x", {"columns": [{"id": "A/b"}], "rows": 0}),
        ("experiments/x", {"columns": [], "rows": 10**9}),
        ("experiments/x", {"columns": [{"id": "a" * 1_001}], "rows": 0}),
        ("experiments/x", {"columns": [{"id": f"a{n}"} for n in range(51)], "rows": 0}),
        ("experiment-rows/x/0", [{"question": 7, "id": 1}]),
        ("experiments/x", {"columns": [], "rows": 0, "last_number": -1}),
        ("experiment-rows/x/0", [{"id": 0}]),
        ("experiment-rows/x/0", [{"id": 10**10}]),
        ("experiment-rows/x/a", []),
        ("experiment-marks/x/1/a/1", {"passed": True}),
        ("experiment-marks/x/1", {"passed": True, "answer": "b2:"}),
        ("experiment-scores/x/1/a/1", {"answer": "b2:", "verdicts": {"k": {"passed": 7}}}),
    ],
)
def test_a_file_with_a_broken_experiment_is_refused(key: str, value: object) -> None:
    with pytest.raises(BadLine):
        check_entry(key, value)


def test_missing_variables_are_named_before_anything_is_asked() -> None:
    grid = Experiment(
        "g",
        [ExperimentRow("Hi {{who}}", {"who": "you"}), ExperimentRow("Hi {{who}}")],
        [ExperimentColumn(system="{% if x %}")],
    )
    said = "\n".join(ExperimentPlan(grid).warnings)
    assert "“{{who}}” has no value in the row" in said and "{% if x %}" in said
    assert ExperimentPlan(grid).question(CellAddress(1, "model")).text == "Hi you"
