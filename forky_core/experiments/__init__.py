"""Experiments: a grid of questions and models whose cells are branches, with checks, judges and intervals.

An `Experiment` is a value (model/experiment.py) in a conversation's view: rows with their checks, and columns. The
results of its cells are derived from their branches (cells.py) and not stored, so that undo, forks, a crash or another
tab can never contradict them. `Experiments` saves and runs those of a conversation, `read_experiment` reads a file,
`rows_of_conversation` makes rows from a branch's questions, and `experiment_writer` writes a file for programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forky_core.process.lazy_names import lazy_names

if TYPE_CHECKING:
    from forky_core.experiments.cells import CellResult as CellResult
    from forky_core.experiments.checks.verdict import CheckVerdict as CheckVerdict, Verdict as Verdict
    from forky_core.experiments.experiment_run import (
        ExperimentRun as ExperimentRun,
        RunProgress as RunProgress,
    )
    from forky_core.experiments.experiments import (
        Experiments as Experiments,
        rows_of_conversation as rows_of_conversation,
    )
    from forky_core.experiments.exporting.registry import (
        ExperimentWriter as ExperimentWriter,
        experiment_writer as experiment_writer,
    )
    from forky_core.experiments.files.experiment_file import read_experiment as read_experiment
    from forky_core.experiments.intervals import Interval as Interval
    from forky_core.experiments.results import (
        Agreement as Agreement,
        ColumnComparison as ColumnComparison,
        ColumnSummary as ColumnSummary,
        ExperimentResult as ExperimentResult,
    )
    from forky_core.model.experiment import (
        CellAddress as CellAddress,
        Experiment as Experiment,
        ExperimentColumn as ExperimentColumn,
        ExperimentRow as ExperimentRow,
        RowCheck as RowCheck,
    )
else:
    __all__, __getattr__, __dir__ = lazy_names(globals(), __spec__)
