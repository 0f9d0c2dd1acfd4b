"""One call that a run of an experiment makes: for the answer of a cell, or for a judge's verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from forky_core.experiments import judge
from forky_core.experiments.cells import CellReader
from forky_core.experiments.plan import CellQuestion, ExperimentPlan
from forky_core.model import MessageId
from forky_core.model.experiment import CellAddress, RowCheck

TaskKind = Literal["cell", "judge", "best"]


@dataclass(eq=False, slots=True)
class BranchTask:
    """A call to make, on a branch of its own."""

    kind: TaskKind
    branch: str
    row: int
    column: str
    """"" for a task that compares the answers of several columns."""
    address: CellAddress | None
    check: RowCheck | None = None
    again: bool = False
    """Whether to ask even if there is an answer."""
    tries: int = 0

    def is_planned(self, plan: ExperimentPlan) -> bool:
        """Whether the experiment still has the row and the column of the call."""
        return self.row in plan.rows and (not self.column or self.column in plan.columns)

    def model(self, plan: ExperimentPlan) -> str | None:
        """Return the model to call, according to the experiment as it is now; None for the default model."""
        if self.check is not None:
            return self.check.model or plan.experiment.judge
        column = plan.columns.get(self.column)
        return column.model if column is not None else None

    def question(self, reader: CellReader) -> CellQuestion | None:
        """Return the question of the call, according to the experiment as it is now; None if it is no longer asked."""
        if not self.is_planned(reader.plan):
            return None
        row = reader.plan.rows[self.row]
        if self.kind == "cell":
            assert self.address is not None
            if self.address.sample > reader.plan.columns[self.column].samples:
                return None
            return reader.plan.question(self.address)
        assert self.check is not None
        if self.kind == "judge":
            assert self.address is not None
            cell = reader.read(self.address)
            if cell.answer is None:
                return None
            return reader.judge_question(row, cell.question.text, self.check, cell.reply)
        return next(
            (
                question
                for branch, _, question in reader.best_questions(row, self.check)[1]
                if branch == self.branch
            ),
            None,
        )

    def is_prepared(self, question: CellQuestion, reader: CellReader) -> bool:
        """Whether the branch leads to the question and has its rules."""
        entries = reader.view.entries
        entry = entries.get(f"heads/{self.branch}")
        if entry is None or (entries.get(f"rules/{self.branch}") or {}) != question.stored_rules:
            return False
        return entry["at"] == question.id or reader.answer_on(self.branch, question).message is not None

    def needs_moving(self, question: CellQuestion, reader: CellReader, head: MessageId | None) -> bool:
        """Whether a branch that ends at `head` must be moved to the question first, because an answer under other rules
        does not count.
        """
        entries = reader.view.entries
        if f"heads/{self.branch}" not in entries:
            return True
        if (entries.get(f"rules/{self.branch}") or {}) != question.stored_rules:
            return True
        return head != question.id and (head is None or not reader.leads_to(question.id, head))

    def is_nonsense(self, text: str, asked: str) -> bool:
        """Whether a judge's answer contains no verdict."""
        assert self.check is not None
        if self.kind == "judge":
            return judge.verdict_in(text, self.check, asked).passed is None
        return judge.best_in(text, range(judge.MOST_COMPARED), asked)[0] is None
