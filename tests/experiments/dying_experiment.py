"""A program that runs an experiment until it is killed, and says which answers it has been given."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from forky_core.experiments.experiments import Experiments
from forky_core.llm.contract import Request
from forky_core.llm.scripted import Step, words
from forky_core.model.experiment import Experiment, ExperimentColumn, ExperimentRow, RowCheck
from forky_core.store.opening import open_store
from tests.builders import workspace
from tests.experiments.grids import GridModels, question_in

ROWS, COLUMNS, PARALLEL = 100, 8, 8


def grid() -> Experiment:
    """100 × 8 cells."""
    return Experiment(
        "grid",
        [ExperimentRow(f"Say {n}", checks=(RowCheck("contains", f"{n}."),)) for n in range(ROWS)],
        [ExperimentColumn("scripted/one", system=f"Column {n}", label=f"Column {n}") for n in range(COLUMNS)],
        parallel=PARALLEL,
    )


def cell_asked(request: Request) -> str:
    """Which cell a request is of."""
    return f"{request.messages[0]['content']}, {question_in(request)}"


def say(line: str) -> None:
    """Whole lines: several threads speak."""
    os.write(1, f"{line}\n".encode())


def main(path: str) -> None:
    forky, _ = workspace(open_store(path))
    models = GridModels()
    forky.models = models

    def answer(request: Request) -> Sequence[Step]:
        say(f"asked {cell_asked(request)}")
        return words(f"Here it is: {question_in(request)}.", 0.002)

    models.let("scripted/one", answer)
    held = next(iter(forky.conversations()), None)
    chat = forky.conversation(held.id) if held is not None else forky.create("Grid")
    experiments = Experiments(chat)
    if "grid" not in experiments:
        experiments.save(grid())
    say("ready")
    experiments.start("grid").wait()
    say("done")
    time.sleep(600)
