"""The experiments of one conversation: the object that pages, commands and scripts work with."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.identity import free_name
from forky_core.conversation.session import Session
from forky_core.conversation.transaction import Transaction, after_races
from forky_core.experiments.cells import CellReader, CellResult
from forky_core.experiments.experiment_run import ExperimentRun, RunOrder
from forky_core.experiments.latest_runs import latest_runs
from forky_core.experiments.numbering import earlier_columns, highest_number, with_new_ids, with_new_numbers
from forky_core.experiments.results import ExperimentResult, summarised
from forky_core.experiments.scoring import CodeChecks
from forky_core.experiments.validation import fit_experiment, fit_name
from forky_core.experiments.wording import column_labels
from forky_core.model import Generation, MessageId, Operation, View
from forky_core.model.errors import ForkyError, NameTaken, NotFound, NothingToDo
from forky_core.model.experiment import (
    BEST,
    EXPERIMENTS,
    JUDGE,
    MARKS,
    ROWS,
    SCORES,
    CellAddress,
    Experiment,
    ExperimentRow,
    experiments_in,
    stored_in,
)
from forky_core.model.model_names import without_server
from forky_core.text.counting import counted

_PREFIXES = (ROWS, MARKS, SCORES)
_OF_CELLS = ("heads", "rules", "experiment-marks", "experiment-scores")
"""The kinds of keys that an experiment's cells have."""
NO_CODE: CodeChecks = {}
_JUDGED = re.compile(rf"(?:{JUDGE}|{BEST})-[0-9a-f]{{8}}")
"""The part of a branch's name that names a judge's check (`judge.mark_of`)."""


class Experiments:
    """The experiments of a conversation. The object has no state of its own: everything is read each time."""

    def __init__(self, chat: Conversation) -> None:
        self._chat = chat
        self._session: Session = chat._session
        self._latest = latest_runs(self._session)
        self._book = self._latest.book

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the conversation's experiments, sorted."""
        return experiments_in(self._session.view)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> Experiment:
        """Return the experiment of this name. Raises NotFound if there is none."""
        return self._book.plan(self._session, self._session.view, name)[0].experiment

    # Changing

    def create(self, experiment: Experiment) -> Operation:
        """Save a new experiment.

        Raises:
            NameTaken: there is one of its name, which stays as it is.
            BadName, BadContent, NotFound: as `save`.
        """
        return self._despite_answers(experiment.name, lambda: self._save(experiment, new=True))

    def save(self, experiment: Experiment) -> Operation:
        """Save an experiment, or change the one of its name. Cells whose question, prompt or model changed count as not
        asked; the branches of rows and columns that are gone are removed, unless somebody continued them.

        Raises:
            BadName, BadContent: see `fit_experiment`.
            NotFound: a row is asked below a message that is not in this conversation.
            NothingToDo: it is saved like that already.
        """
        return self._despite_answers(experiment.name, lambda: self._save(experiment, new=False))

    def _save(self, experiment: Experiment, *, new: bool) -> Operation:
        fit = fit_experiment(experiment)
        for at in {row.at for row in fit.rows if row.at is not None}:
            self._session.message(at)
        tx = self._session.require_not_trashed()
        before = stored_in(tx.view, fit.name)
        if new and before:
            raise _name_taken(fit.name)
        fit = self._numbered(fit, tx.view)
        entries = fit.entries()
        for key, value in entries.items():
            tx.set(key, value)
        for number in range(max(0, len(entries) - 1), len(before) - 1):
            tx.set(f"{ROWS}{fit.name}/{number}", None)
        if before:
            self._remove_cells(tx, fit)
        if not tx.changes:
            raise NothingToDo(f"The experiment “{fit.name}” is saved like that already.")
        what = f"{counted(len(fit.rows), 'row')}, {counted(len(fit.columns), 'column')}"
        verb = "Changed" if before else "Saved"
        operation = tx.publish("experiment", f"{verb} the experiment “{fit.name}”: {what}")
        self._changed(fit.name)
        return operation

    def delete(self, name: str) -> Operation:
        """Delete an experiment with its cells' branches, unless somebody continued them. Undo restores all of it."""
        return self._despite_answers(name, lambda: self._delete(name))

    def _delete(self, name: str) -> Operation:
        experiment = self[name]
        tx = self._session.require_not_trashed()
        self._remove_cells(tx, replace(experiment, rows=(), columns=()))
        for key in tx.view.entries:
            if key == f"{EXPERIMENTS}{name}" or any(key.startswith(f"{p}{name}/") for p in _PREFIXES):
                tx.set(key, None)
        operation = tx.publish("experiment", f"Deleted the experiment “{name}”")
        self._changed(name)
        return operation

    def fork(self, name: str, new: str | None = None) -> Experiment:
        """Copy an experiment with its answers, so that the copy can be changed. No message is copied.

        Raises:
            NameTaken: there is an experiment or a branch that begins with the new name.
        """
        experiment = self[name]
        tx = self._session.require_not_trashed()
        begun = {branch.partition("/")[0] for branch in tx.view.branches if "/" in branch}
        chosen = fit_name(new) if new is not None else free_name(name[:34], {*self.names, *begun})
        if f"{EXPERIMENTS}{chosen}" in tx.view.entries:
            raise _name_taken(chosen)
        if chosen in begun:
            raise NameTaken(
                f"There are branches whose names begin with “{chosen}/” already.", "Choose another name."
            )
        copy = fit_experiment(replace(experiment, name=chosen))
        for key, value in copy.entries().items():
            tx.set(key, value)
        for key, value in tx.view.entries.items():
            kind, _, rest = key.partition("/")
            if kind in _OF_CELLS and rest.startswith(f"{name}/"):
                tx.set(f"{kind}/{chosen}/{rest.removeprefix(f'{name}/')}", value)
        tx.publish("experiment", f"Forked the experiment “{name}” as “{chosen}”")
        return copy

    def mark(self, name: str, cell: CellAddress, passed: bool | None, *, by: str = "") -> Operation:  # noqa: FBT001 - the one thing that is said
        """Record a person's verdict on an answer; None removes it.

        Raises:
            NotFound: there is no such cell, or it has no answer.
            NothingToDo: it is marked like that already.
        """
        found = self.cell(name, cell)
        if found.answer is None:
            raise NotFound("This cell has no answer to mark yet.")
        tx = self._session.require_not_trashed()
        entry = None
        if passed is not None:
            entry = {"answer": found.answer.id, "passed": passed, "by": by or self._session.actor}
        tx.set(f"{MARKS}{name}/{cell.key}", entry)
        word = {True: "good", False: "bad", None: "not marked"}[passed]
        summary = f"Marked an answer of “{name}”, row {cell.row}: {word}"
        return tx.publish("experiment", summary, unchanged="It is marked like that already.")

    # Running

    def start(
        self,
        name: str,
        *,
        cells: Iterable[CellAddress] | None = None,
        again: bool = False,
        code: CodeChecks = NO_CODE,
        repeats: int = 2,
        pause: float = 1.0,
    ) -> ExperimentRun:
        """Start asking the cells that have no complete answer yet, or only `cells`, in the background, and have the
        answers judged.

        `again` asks answered cells, too; the old answers stay in the conversation. `code` has a program's own checks,
        by the names that checks of the kind "code" have as their value. After a failure that may be temporary, a call
        is repeated up to `repeats` times, after `pause` seconds or the time that the provider asks for.

        Raises:
            NotFound: there is no such experiment.
            InTheWay: it is running.
            NothingToDo: everything is answered and judged.
        """
        wanted = tuple(cells) if cells is not None else None
        run = ExperimentRun(
            self._session, self._book, name, RunOrder(wanted, again, repeats, dict(code), pause)
        )
        self._latest.begin((self._session.id, name), run)
        return run

    def run(
        self, name: str, *, code: CodeChecks = NO_CODE, repeats: int = 2, pause: float = 1.0
    ) -> ExperimentResult:
        """Ask the cells that have no complete answer yet, wait until all are answered and judged, and return the
        result.
        """
        with suppress(NothingToDo):
            self.start(name, code=code, repeats=repeats, pause=pause).wait()
        return self.result(name)

    def latest_run(self, name: str) -> ExperimentRun | None:
        """Return the present or last run in this process; None if there was none."""
        return self._latest.run((self._session.id, name))

    # Reading

    def cell(self, name: str, cell: CellAddress) -> CellResult:
        """Return the result of one cell. Raises NotFound if there is no such cell."""
        reader = self._book.reader(self._session, name)
        try:
            return reader.read(cell)
        except KeyError:
            raise NotFound(f"There is no cell {cell.key} in “{name}”.") from None

    def history(self, name: str, cell: CellAddress) -> tuple[Generation, ...]:
        """Return every call that was made for a cell, oldest first."""
        branch = cell.branch(name)
        return tuple(call for call in self._session.generations() if call.branch == branch)

    def result(self, name: str, *, age: float = 0.0) -> ExperimentResult:
        """Return the results of the experiment so far.

        While it runs, a result may be up to `age` seconds old, or four times as old as it took to compute, so that a
        large table does not slow the run down.

        Raises NotFound if there is no experiment of this name.
        """
        place, run = (self._session.id, name), self.latest_run(name)
        if age and run is not None and run.running:
            recent = self._latest.recent_result(place, age)
            if recent is not None and recent.experiment is self[name]:
                return recent
        generations = self._session.generations()
        state = (
            self._session.view.version,
            len(generations),
            sum(call.status == "running" for call in generations),
            tuple(sorted(job.place.branch for job in self._session.replies.running(self._session.id))),
            run.refused if run is not None else {},
        )
        return self._latest.result(
            place, state, lambda: self._summed(name, self._book.reader(self._session, name), generations)
        )

    def _summed(self, name: str, reader: CellReader, generations: Sequence[Generation]) -> ExperimentResult:
        experiment = reader.plan.experiment
        run = self.latest_run(name)
        refused = run.refused if run is not None else {}
        cells = {address: _with_refusal(reader.read(address), refused) for address in experiment.cells}
        calls = [call for call in generations if call.branch.startswith(f"{name}/")]
        warnings = (*reader.plan.warnings, *experiment.notes)
        return summarised(experiment, cells, calls, self.labels(experiment), warnings)

    def labels(self, experiment: Experiment) -> Mapping[str, str]:
        """Return the labels of the columns, by their ids."""
        return column_labels(experiment, self._called)

    def _called(self, model: str) -> str:
        try:
            return self._session.models.model(model).info().label
        except ForkyError:
            return without_server(model)

    def _despite_answers(self, name: str, write: Callable[[], Operation]) -> Operation:
        """Write a change, and try again if only an answer came first, because a running experiment moves its branches
        all the time.

        Raises Outdated if somebody changed the experiment itself.
        """
        before = stored_in(self._session.view, name)
        return after_races(write, lambda _: stored_in(self._session.view, name) == before)

    def _numbered(self, experiment: Experiment, view: View) -> Experiment:
        """Return the experiment with unused numbers for its new rows and unused ids for its new columns."""
        if experiment.name not in experiments_in(view):
            return with_new_numbers(experiment, None, highest_number(experiment.name, (), view))
        before = self._book.plan(self._session, view, experiment.name)[0].experiment
        operations = self._session.store.operations(self._session.id)
        fit = with_new_ids(experiment, before, earlier_columns(experiment.name, operations))
        return with_new_numbers(fit, before, highest_number(experiment.name, operations, view))

    def _changed(self, name: str) -> None:
        run = self.latest_run(name)
        if run is not None and run.running:
            run.follow_change()

    def _remove_cells(self, tx: Transaction, kept: Experiment) -> None:
        """Remove the branches of rows and columns that `kept` does not have, with people's marks and code's
        verdicts.
        """
        rows = {row.id for row in kept.rows}
        columns = {column.id: column.samples for column in kept.columns}
        reader = self._book.reader(self._session, kept.name)
        for key in tx.view.entries:
            kind, _, rest = key.partition("/")
            if not rest.startswith(f"{kept.name}/") or kind not in _OF_CELLS or kind == "rules":
                continue
            parts = rest.removeprefix(f"{kept.name}/").split("/")
            if not _is_gone(parts, rows, columns):
                continue
            if kind != "heads":
                tx.set(key, None)
            elif is_judges(parts) or _is_left(parts, reader, tx.view.branch(rest).head):
                tx.remove_branch(rest)


def _name_taken(name: str) -> NameTaken:
    return NameTaken(f"There is an experiment “{name}” already.", "Choose another name.")


def _with_refusal(cell: CellResult, refused: Mapping[CellAddress, str]) -> CellResult:
    """Mark a cell that could not be asked as failed, with the reason, which only this process knows."""
    if cell.status != "waiting" or cell.address not in refused:
        return cell
    return replace(cell, reply=replace(cell.reply, status="failed", why=refused[cell.address]))


def _is_gone(parts: Sequence[str], rows: Collection[int], columns: Mapping[str, int]) -> bool:
    """Whether the row, column or sample of a branch (its name without the experiment's) is gone."""
    if not parts[0].isdecimal() or len(parts) < 2:
        return False
    if int(parts[0]) not in rows:
        return True
    if len(parts) > 2 and _JUDGED.fullmatch(parts[1]):
        return len(columns) < 2
    if parts[1] not in columns:
        return True
    return len(parts) > 2 and parts[2].isdecimal() and int(parts[2]) > columns[parts[1]]


def is_judges(parts: Sequence[str]) -> bool:
    """Whether this is the branch of a judge. `parts` are the parts of its name after that of the experiment."""
    return (len(parts) == 3 and bool(_JUDGED.fullmatch(parts[1])) and parts[2].isdecimal()) or (
        len(parts) in {3, 4} and bool(_JUDGED.fullmatch(parts[-1]))
    )


def _is_left(parts: Sequence[str], reader: CellReader, head: MessageId | None) -> bool:
    """Whether a branch belongs to a cell and nobody continued it.

    The branch of a cell that the experiment no longer has was left on purpose when that cell was removed, so it counts
    as continued.
    """
    if len(parts) > 3 or (len(parts) == 3 and not parts[2].isdecimal()):
        return False
    address = CellAddress(int(parts[0]), parts[1], int(parts[2]) if len(parts) == 3 else 1)
    column = reader.plan.columns.get(address.column)
    if address.row not in reader.plan.rows or column is None or address.sample > column.samples:
        return False
    reply = reader.read(address).reply
    if reply.status != "waiting" or head is None:
        return not reply.went_on
    # The cell counts as not asked because the experiment was changed; the branch may have an earlier answer.
    return not reader.is_continued(head, reader.plan.rows[address.row].at)


def rows_of_conversation(chat: Conversation, *, in_context: bool = False) -> tuple[ExperimentRow, ...]:
    """Return the questions of a branch as rows, with the answers of the branch as their references.

    `in_context` asks each question below the messages before it, so that the model sees the conversation so far.
    """
    path = chat.path()
    made: list[ExperimentRow] = []
    for at, message in enumerate(path):
        if message.role != "user" or not message.text.strip() or message.merges:
            continue
        after = path[at + 1] if at + 1 < len(path) else None
        reference = after.text if after is not None and after.role == "assistant" else ""
        # The text is asked unchanged: braces in a person's message are not variables.
        made.append(
            ExperimentRow(message.text, reference=reference, at=message.parent if in_context else None)
        )
    return tuple(made)
