from __future__ import annotations

import random
import signal
from collections import Counter
from pathlib import Path

import pytest

from forky_core.experiments.experiments import Experiments
from forky_core.llm.contract import Request
from forky_core.store.opening import open_store
from tests.builders import workspace
from tests.experiments.dying_experiment import COLUMNS, PARALLEL, ROWS, cell_asked, main
from tests.experiments.grids import GridModels, question_in
from tests.hangs import HANG
from tests.killing import victim

KILLS = 3


@pytest.mark.long
def test_after_a_kill_no_cell_with_an_answer_is_asked_again(tmp_path: Path) -> None:
    """100 × 8 cells, killed three times while it runs. What was being written at a kill is asked once more, and that is
    at most as many cells as there are calls at once.
    """
    path, asked, answered = tmp_path / "grid.duckdb", Counter[str](), set[str]()
    for _ in range(KILLS):
        with victim(main, str(path)) as (process, said):
            assert said.readline().strip() == "ready"
            # More calls than run at once, so that some have been answered, however busy the machine is.
            last = asked.total() + random.randint(3 * PARALLEL, ROWS * COLUMNS // (KILLS + 1))
            for line in said:
                word, _, cell = line.strip().partition(" ")
                if word == "asked" and line.endswith("\n"):
                    asked[cell] += 1
                    assert cell not in answered, f"{cell} has an answer and was asked again"
                    if asked.total() == last:
                        process.kill()
        assert process.exitcode == -signal.SIGKILL
        forky, _ = workspace(open_store(path))
        chat = forky.conversation(forky.conversations()[0].id)
        assert forky.verify().clean
        answered = {
            f"{cell.question.rules.system}, {cell.question.text}"
            for cell in Experiments(chat).result("grid").cells.values()
            if cell.status == "done"
        }
        forky.close()
    assert len(answered) > 0
    forky, _ = workspace(open_store(path))
    models = GridModels()
    forky.models = models

    def answer(request: Request) -> str:
        asked[cell_asked(request)] += 1
        return f"Here it is: {question_in(request)}."

    models.let("scripted/one", answer)
    experiments = Experiments(forky.conversation(forky.conversations()[0].id))
    assert experiments.start("grid").wait(HANG)
    result = experiments.result("grid")
    assert result.answered == ROWS * COLUMNS == len(asked) and not result.failed
    assert len(models.one.requests) == ROWS * COLUMNS - len(answered)
    assert sum(asked.values()) - ROWS * COLUMNS <= KILLS * PARALLEL
    forky.close()
