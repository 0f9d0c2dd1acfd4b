"""The ready conversation: what a first visit has to look at, and that its experiment is a real one."""

from __future__ import annotations

import json

import pytest

from forky_core.experiments.experiments import Experiments
from forky_core.forky import Forky
from forky_core.model.experiment import CellAddress
from forky_core.views.compare import compare
from forky_core.views.sides import read_sides
from forky_core.welcome import (
    ANSWERS_FILE,
    EXPERIMENT,
    FORK_POINT,
    UNMERGED,
    ensure_welcome,
    make_welcome,
    open_welcome,
    ready_answers,
    ready_id,
)
from tests.builders import workspace
from tests.welcome_run import real_answers

_TIMES = ("started", "first_token", "finished")


def _without_times(answers: list[dict[str, object]]) -> list[dict[str, object]]:
    kept = [{key: value for key, value in one.items() if key not in _TIMES} for one in answers]
    return sorted(kept, key=lambda one: (one["row"], one["column"]))


def test_the_answers_of_the_experiment_are_those_of_a_real_run() -> None:
    kept = json.loads(ANSWERS_FILE.read_text("utf-8"))
    assert _without_times(kept) == _without_times(real_answers()), "Run `make welcome`."


def test_the_experiment_is_finished_and_its_checks_judge_it() -> None:
    forky, _ = workspace()
    experiments = Experiments(make_welcome(forky))
    assert experiments.names == (EXPERIMENT,)
    cells = list(experiments[EXPERIMENT].cells)
    assert len(cells) == 8
    results = {cell: experiments.cell(EXPERIMENT, cell) for cell in cells}
    assert {result.status for result in results.values()} == {"done"}
    for column in ("quote", "digest"):
        on_main, on_upload = (results[CellAddress(row, column)] for row in (3, 4))
        assert on_main.question.text == on_upload.question.text
        assert (on_main.passed, on_upload.passed) == (False, True)


def test_three_answers_to_one_question_can_be_compared() -> None:
    forky, _ = workspace()
    chat = make_welcome(forky)
    sides, unknown = read_sides(ready_answers(chat), chat.view, chat.visible)
    assert (len(sides), unknown) == (3, ())
    found = compare(sides, chat.visible, chat.calls.generations, chat.path)
    assert len(found.columns) == 3
    parents = {chat.message(side.head).parent for side in sides if side.head is not None}
    assert parents == {chat.path()[2].id}


def test_the_log_is_sound_and_the_first_undo_takes_back_the_last_message() -> None:
    forky, _ = workspace()
    chat = make_welcome(forky)
    assert forky.verify().clean
    before = chat.path()
    assert before[FORK_POINT - 1].merge is not None, "the tour finds the place to fork at"
    chat.undo()
    assert chat.path() == before[:-1]
    assert Experiments(chat).names == (EXPERIMENT,)


@pytest.mark.parametrize("how", ["kept", "trashed", "purged", "merged", "main deleted"])
def test_a_ready_conversation_is_opened_or_made_anew(how: str) -> None:
    forky, _ = workspace()
    first = ensure_welcome(forky)
    assert first is not None
    assert ready_id(forky) == first.id
    if how == "trashed":
        first.trash()
    elif how == "purged":
        first.trash()
        forky.purge(first.id)
    elif how == "merged":
        first.merge(first.plan_merge(UNMERGED))
    elif how == "main deleted":
        first.branches.delete()
    opened = open_welcome(forky, unmerged=True)
    assert (opened.id == first.id) == (how == "kept")
    assert opened.branch_name == "main"
    assert open_welcome(forky, unmerged=True).id == opened.id == ready_id(forky)


def test_one_that_something_was_merged_in_is_opened_again_after_undo() -> None:
    forky, _ = workspace()
    chat = make_welcome(forky)
    chat.merge(chat.plan_merge(UNMERGED))
    assert open_welcome(forky).id == chat.id
    chat.undo()
    assert open_welcome(forky, unmerged=True).id == chat.id


def test_it_is_the_same_in_a_database(tmp_path: object) -> None:
    with Forky.open(f"{tmp_path}/f.duckdb") as forky:
        chat = ensure_welcome(forky)
        assert chat is not None
        assert forky.verify().clean
        result = Experiments(chat).result(EXPERIMENT)
        assert len(result.cells) == 8
