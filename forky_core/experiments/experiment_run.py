"""A run of an experiment: a queue of calls that are made in the background, several at once, within a limit of cost.

A run stores no list of finished cells. It asks the cells without a complete answer on their branch, so that a run that
was stopped, or killed with its process, is resumed by starting another one, which asks no answered cell again.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from forky_core.conversation.replies import asking
from forky_core.conversation.replies.reply_job import ReplyJob, ReplyTarget
from forky_core.conversation.session import Session
from forky_core.experiments.book import ExperimentBook
from forky_core.experiments.branch_task import BranchTask
from forky_core.experiments.call_budget import CallBudget
from forky_core.experiments.cells import CellReader, is_scored, judge_branch
from forky_core.experiments.scoring import CodeChecks, score_cell
from forky_core.experiments.validation import MOST_PARALLEL
from forky_core.model import Failure, MessageId
from forky_core.model.errors import (
    ForkyError,
    InTheWay,
    NotAllowed,
    NotFound,
    NothingToDo,
    Outdated,
    StoreError,
)
from forky_core.model.experiment import BEST, EXPERIMENTS, JUDGE, CellAddress, Experiment
from forky_core.process.scheduling import BackgroundTurns
from forky_core.text.counting import counted

TOGETHER = 50
"""How many cells get their branches in one operation."""
WORTH_REPEATING = frozenset({"rate_limited", "overloaded", "timeout", "unreachable"})
"""Failures after which the same call may succeed later."""
HOPELESS = frozenset({"no_key", "bad_key", "not_found"})
"""Failures after which every further call of the same column would fail."""
LONGEST_WAIT = 60.0
"""The most seconds before a call is repeated."""
_TRIES = 50
_LOOK_EVERY = 0.5
"""Seconds between two checks, while a reply is written, whether the run was undone."""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The progress of a run."""

    total: int
    """The number of cells that the run has to ask."""
    done: int
    failed: int
    """Cells whose call gave no complete answer, or that could not be asked."""
    active: int
    """Calls that are being made, judges included."""
    judged: int
    """Calls of judges that have ended."""
    cost: float
    """The US dollars that the experiment has cost so far, without calls of an unknown price."""
    running: bool
    sentence: str
    """How the run ended or why it is ending; "" before."""
    notes: tuple[str, ...] = ()
    """A sentence for each kind of problem so far."""

    @property
    def share(self) -> float:
        return (self.done + self.failed) / self.total if self.total else 1.0


@dataclass(frozen=True, slots=True)
class RunOrder:
    """The cells and options of a run that is to be started."""

    cells: tuple[CellAddress, ...] | None = None
    """The cells to ask; None for every cell."""
    again: bool = False
    """Whether cells that have an answer are asked again. The old answers stay in the conversation."""
    repeats: int = 2
    """How often a call is repeated after a failure that may be temporary."""
    code: CodeChecks = field(default_factory=dict)
    """A program's own checks, by the names that checks of the kind "code" have as their value."""
    pause: float = 1.0
    """Seconds before the first repetition, unless the provider says how long; the pause doubles each time."""


class ExperimentRun:
    """A run of an experiment, which asks its cells in the background. It can be used from any thread."""

    def __init__(self, session: Session, book: ExperimentBook, name: str, order: RunOrder) -> None:
        self.name = name
        self._session, self._book, self._order = session, book, order
        self._queue: deque[BranchTask] = deque()
        self._changed = threading.Condition()
        self._jobs: dict[BranchTask, ReplyJob | None] = {}
        """The tasks that are being carried out, with their replies; None until the reply has started."""
        self._unprepared: dict[str, None] = {}
        self._publishing = threading.Lock()
        self._stopping = threading.Event()
        self._tried: set[str] = set()
        """Branches of judges that this run has asked."""
        self._scored: set[tuple[CellAddress, MessageId]] = set()
        """Answers that code has judged, or is judging, in this run."""
        self._open_rows: Counter[int] = Counter()
        """How many cells of each row this run has still to ask."""
        self._open_cells: set[CellAddress] = set()
        self._last_checked = 0
        """The last operation that was checked for an undo of this run."""
        self._done = self._failed = self._judged = self._total = 0
        self._group: int | None = None
        self._budget = CallBudget(session.models, self._dollars)
        self._sentence = ""
        self._notes: dict[str, int] = {}
        self._blocked: dict[str, str] = {}
        """Columns whose further calls would all fail, each with the reason."""
        self._refused: dict[CellAddress, str] = {}
        self._threads: list[threading.Thread] = []
        self._finished = threading.Event()

    def begin(self) -> None:
        """Determine which cells have to be asked, and start asking them.

        Raises:
            NotFound: there is no such experiment.
            NothingToDo: everything is answered and judged.
        """
        reader = self._book.reader(self._session, self.name)
        experiment = reader.plan.experiment
        self._plan_tasks(reader, experiment)
        if not self._queue:
            raise NothingToDo(
                "Every cell of this experiment is answered."
                if experiment.size
                else "This experiment has no cells yet.",
                "Ask some of them again, or change it." if experiment.size else "Give it rows and columns.",
            )
        calls = [call for call in self._session.generations() if call.branch.startswith(f"{self.name}/")]
        for call in calls:
            self._budget.count(call)
        judges = len(self._queue) - self._total
        asked = " and ".join(
            part
            for part in (
                counted(self._total, "cell") if self._total else "",
                counted(judges, "question") + " to judges" if judges else "",
            )
            if part
        )
        # All later operations of the run belong to this one, so that one undo reverts the whole run.
        operation = self._session.require_not_trashed().publish(
            "experiment", f"Ran the experiment “{self.name}”: {asked}"
        )
        self._group = self._last_checked = operation.number
        many = max(1, min(experiment.parallel, MOST_PARALLEL))
        self._threads = [
            threading.Thread(target=self._work, name=f"experiment-{number}", daemon=True)
            for number in range(many)
        ]
        for thread in tuple(self._threads):
            thread.start()

    # Watching and stopping

    @property
    def running(self) -> bool:
        return not self._finished.is_set()

    @property
    def refused(self) -> Mapping[CellAddress, str]:
        """The cells that could not be asked in this run, each with the reason."""
        with self._changed:
            return dict(self._refused)

    @property
    def progress(self) -> RunProgress:
        with self._changed:
            return RunProgress(
                self._total,
                self._done,
                self._failed,
                len(self._jobs),
                self._judged,
                self._budget.cost,
                not self._finished.is_set(),
                self._sentence,
                tuple(f"{what} ({many}×)" if many > 1 else what for what, many in self._notes.items()),
            )

    def stop(self) -> None:
        """Start no more calls and stop those that are being made. Their text so far is stored."""
        self._end("Stopped. What was answered is kept; run it again to go on.")

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the run has ended; return False if it has not ended after `seconds`."""
        return self._finished.wait(seconds)

    def follow_change(self) -> None:
        """Stop calls of rows and columns that the experiment no longer has."""
        try:
            plan, _ = self._book.plan(self._session, self._session.view, self.name)
        except ForkyError:
            self._end("The experiment was removed.")
            return
        with self._changed:
            gone = [job for task, job in self._jobs.items() if job is not None and not task.is_planned(plan)]
        for job in gone:
            job.stop()

    def _end(self, sentence: str) -> None:
        with self._changed:
            if self._finished.is_set():
                return
            self._sentence = self._sentence or sentence
            self._stopping.set()
            self._queue.clear()
            jobs = [job for job in self._jobs.values() if job is not None]
            self._changed.notify_all()
        for job in jobs:
            job.stop()

    # What is to be asked

    def _plan_tasks(self, reader: CellReader, experiment: Experiment) -> None:
        wanted = dict.fromkeys(self._order.cells if self._order.cells is not None else experiment.cells)
        rows: dict[int, None] = {}
        for address in wanted:
            try:
                cell = reader.read(address)
            except KeyError:
                continue
            rows[address.row] = None
            if cell.status == "done" and not self._order.again:
                continue
            again = self._order.again
            task = BranchTask("cell", cell.branch, address.row, address.column, address, again=again)
            self._queue.append(task)
            self._unprepared[cell.branch] = None
            self._open_rows[address.row] += 1
            self._open_cells.add(address)
        self._total = len(self._queue)
        for row in rows:
            self._queue.extend(self._follow_ups(reader, row))

    def _follow_ups(self, reader: CellReader, row_id: int) -> list[BranchTask]:
        """Return the calls of judges for which a row is ready, each only once in a run. Code judges at once."""
        row = reader.plan.rows.get(row_id)
        if row is None:
            return []
        experiment = reader.plan.experiment
        checks = experiment.checks_of(row)
        found: list[BranchTask] = []
        if any(check.kind == JUDGE or is_scored(check) for check in checks):
            for column in experiment.columns:
                for sample in range(1, column.samples + 1):
                    address = CellAddress(row_id, column.id, sample)
                    if address not in self._open_cells:
                        found += self._judge_tasks(reader, address)
        if not self._open_rows[row_id]:
            for check in (check for check in checks if check.kind == BEST):
                _, questions = reader.best_questions(row, check)
                found += [
                    BranchTask("best", branch, row_id, "", None, check)
                    for branch, _, question in questions
                    if reader.answer_on(branch, question).status != "done"
                ]
        with self._changed:
            fresh = [task for task in found if task.branch not in self._tried]
            self._tried.update(task.branch for task in fresh)
        return fresh

    def _judge_tasks(self, reader: CellReader, address: CellAddress) -> list[BranchTask]:
        cell = reader.read(address)
        if cell.answer is None:
            return []
        row = reader.plan.rows[address.row]
        with self._changed:
            fresh = (address, cell.answer.id) not in self._scored
            self._scored.add((address, cell.answer.id))
        if fresh:
            score_cell(
                self._session,
                self.name,
                cell,
                row,
                self._order.code,
                self._budget.may_compare,
                group=self._group,
            )
        found: list[BranchTask] = []
        for one in cell.verdicts:
            if one.check.kind != JUDGE:
                continue
            branch = judge_branch(self.name, address, one.check)
            question = reader.judge_question(row, cell.question.text, one.check, cell.reply)
            if reader.answer_on(branch, question).status != "done":
                found.append(BranchTask("judge", branch, address.row, address.column, address, one.check))
        return found

    # The work

    def _work(self) -> None:
        turns = BackgroundTurns()
        try:
            while (task := self._next()) is not None:
                turns.yield_to_foreground_in_thread()
                try:
                    self._carry_out(task)
                finally:
                    with self._changed:
                        self._jobs.pop(task, None)
                        self._changed.notify_all()
        except StoreError as error:
            self._end(f"The run ended: {error}")
        except Exception as error:  # noqa: BLE001 - a bug must not leave a run that never ends
            self._end(f"The run ended with an error of Forky's own ({type(error).__name__}).")
        finally:
            with self._changed:
                if threading.current_thread() in self._threads:
                    self._threads.remove(threading.current_thread())
                last = not self._threads
            if last:
                self._finish()

    def _finish(self) -> None:
        with self._changed:
            if not self._sentence:
                failed = f"; {counted(self._failed, 'call')} failed" if self._failed else ""
                self._sentence = f"Finished: {counted(self._done, 'answer')}{failed}."
            self._finished.set()
            self._changed.notify_all()

    def _next(self) -> BranchTask | None:
        """Return the next call to make; None if there are no more. Waits while the calls in progress may add calls."""
        with self._changed:
            while True:
                if self._stopping.is_set() or (not self._queue and not self._jobs):
                    return None
                task = self._permitted()
                if task is not None:
                    self._queue.remove(task)
                    self._jobs[task] = None
                    return task
                if self._queue and not self._jobs:
                    self._sentence = self._budget.refusal()
                    self._queue.clear()
                    self._changed.notify_all()
                    return None
                self._changed.wait(1.0)

    def _permitted(self) -> BranchTask | None:
        """Return the first call of the queue that the limit of cost permits. The caller holds the lock."""
        if not self._budget.is_spent(len(self._jobs)):
            return self._queue[0] if self._queue else None
        try:
            plan, _ = self._book.plan(self._session, self._session.view, self.name)
        except ForkyError:
            return self._queue[0] if self._queue else None
        return next((task for task in self._queue if self._budget.is_free(task.model(plan))), None)

    def _dollars(self) -> float | None:
        try:
            return self._book.plan(self._session, self._session.view, self.name)[0].experiment.dollars
        except ForkyError:
            return None

    def _carry_out(self, task: BranchTask) -> None:
        if task.column in self._blocked:
            self._refuse(task, self._blocked[task.column])
            return
        try:
            ended = self._call(task)
        except StoreError:
            raise
        except NotAllowed as error:
            self._refuse(task, str(error))
            self._end(str(error))
            return
        except InTheWay as error:
            if self._session.replies.closing:
                self._end(str(error))
                return
            self._refuse(task, str(error))
            return
        except ForkyError as error:
            if isinstance(error, NotFound) and task.kind == "cell":
                with self._changed:
                    self._blocked[task.column] = str(error)
            self._refuse(task, str(error))
            return
        if ended is None:
            self._skip(task)
            return
        self._settle(task, ended)

    def _call(self, task: BranchTask) -> ReplyJob | None:
        """Make the call, and repeat it after temporary failures; return None if the experiment no longer asks this."""
        for attempt in range(self._order.repeats + 1):
            begun = self._begin_reply(task)
            if begun is None:
                return None
            with self._changed:
                self._jobs[task] = begun
                stopped = self._stopping.is_set()
            if stopped:
                begun.stop()
            # The experiment may have changed after the question was planned and before this reply could be seen.
            self.follow_change()
            while not begun.wait(_LOOK_EVERY):
                # An undo stops the replies that it sees; this one may have been started a moment later.
                if self._is_undone():
                    self._end("The run was undone.")
            with self._changed:
                self._budget.count(begun.generation)
            failure = begun.failure
            if failure is None or failure.kind not in WORTH_REPEATING or attempt == self._order.repeats:
                return begun
            self._note(f"Asked again after: {failure.sentence}")
            if self._stopping.wait(self._pause(failure, attempt)):
                return begun
        return None

    def _pause(self, failure: Failure, attempt: int) -> float:
        asked = failure.retry_after if failure.retry_after is not None else self._order.pause * 2.0**attempt
        return max(0.0, min(asked, LONGEST_WAIT))

    def _begin_reply(self, task: BranchTask) -> ReplyJob | None:
        session = self._session
        for _ in range(_TRIES):
            if self._is_undone():
                self._end("The run was undone.")
                return None
            reader = self._book.reader(session, self.name)
            question = task.question(reader)
            if question is None:
                return None
            other = session.replies.on_branch(session.id, task.branch)
            if other is not None:
                return other
            reply = reader.answer_on(task.branch, question)
            if reply.status == "done" and not task.again:
                return None
            if task.is_prepared(question, reader):
                break
            self._prepare(task, reader)
        else:
            raise InTheWay(f"“{task.branch}” is changed by somebody else all the time.")
        entry = session.view.entries.get(f"heads/{task.branch}")
        head = MessageId(entry["at"]) if entry and entry["at"] else None
        replaces = head if head != question.id else None
        if reply.went_on and reply.message is not None:
            raise InTheWay(
                f"“{task.branch}” was continued by somebody, so it is not asked again.",
                "Rename that branch first.",
            )
        # The reply to a cell that is removed meanwhile does not become a message of the graph.
        target = ReplyTarget(
            session.id,
            task.branch,
            question.id,
            replaces=replaces,
            group=self._group,
            kept_without_branch=False,
        )
        reuse = (
            reader.plan.experiment.reuse
            and task.kind == "cell"
            and not task.again
            and task.address is not None
            and task.address.sample == 1
        )
        return asking.answer(session, target, question.rules, reuse=reuse)

    def _is_undone(self) -> bool:
        with self._publishing:
            fresh = self._session.store.operations(self._session.id, after=self._last_checked)
            self._last_checked = fresh[-1].number if fresh else self._last_checked
        return any(operation.verb == "undo" and self._group in operation.reverts for operation in fresh)

    def _prepare(self, task: BranchTask, reader: CellReader) -> None:
        """Create the branch with its question, and those of the next cells in the same operation."""
        with self._publishing:
            tasks = [task]
            if task.kind == "cell":
                with self._changed:
                    later = [t for t in self._queue if t.kind == "cell" and t.branch in self._unprepared]
                tasks += [t for t in later if t.branch != task.branch][: TOGETHER - 1]
            tx = self._session.require_not_trashed()
            if self._book.plan(self._session, tx.view, self.name)[0] is not reader.plan:
                return  # The experiment has changed since it was read.
            prepared = 0
            for one in tasks:
                question = one.question(reader)
                if question is None or (one is not task and one.column in self._blocked):
                    continue
                entry = tx.view.entries.get(f"heads/{one.branch}")
                if one is not task and entry is not None:
                    continue
                head = entry["at"] if entry is not None else None
                tx.messages.extend(
                    m for m in question.messages if all(m.id != k.id for k in tx.messages[-8:])
                )
                if one.needs_moving(question, reader, head):
                    tx.move(one.branch, question.id)
                    if (
                        head is not None
                        and one.kind == "cell"
                        and reader.is_continued(head, reader.plan.rows[one.row].at)
                    ):
                        tx.keep(head)
                tx.set_rules(one.branch, question.rules)
                prepared += 1
            for one in tasks:
                self._unprepared.pop(one.branch, None)
            if not tx.changes:
                return
            tx.require(f"{EXPERIMENTS}{self.name}")
            try:
                tx.publish("experiment", self._summary(task, prepared), group=self._group)
            except Outdated:
                return

    def _summary(self, task: BranchTask, prepared: int) -> str:
        if task.kind == "cell":
            return f"Experiment “{self.name}”: asked {counted(prepared, 'cell')}"
        return f"Experiment “{self.name}”: asked a judge about row {task.row}"

    # Outcomes

    def _asked_by(self, job: ReplyJob) -> str:
        """Return the text of the message that a call answers."""
        parent = job.generation.parent
        return self._session.message(parent).text if parent is not None else ""

    def _settle(self, task: BranchTask, job: ReplyJob) -> None:
        failure = job.failure
        if task.kind == "cell":
            with self._changed:
                self._close(task)
                if failure is None and job.generation.status == "done":
                    self._done += 1
                elif job.generation.status != "stopped":
                    self._failed += 1
                if failure is not None and failure.kind in HOPELESS:
                    self._blocked[task.column] = failure.sentence
            if failure is not None and job.generation.status != "stopped":
                self._note(failure.sentence)
        else:
            with self._changed:
                self._judged += 1
            if failure is not None and job.generation.status != "stopped":
                self._note(f"A judge did not answer: {failure.sentence}")
            elif (
                failure is None
                and task.tries == 0
                and task.is_nonsense(job.message.text if job.message else "", self._asked_by(job))
            ):
                again = BranchTask(
                    task.kind,
                    task.branch,
                    task.row,
                    task.column,
                    task.address,
                    task.check,
                    again=True,
                    tries=1,
                )
                with self._changed:
                    self._queue.appendleft(again)
                return
        self._follow(task)

    def _follow(self, task: BranchTask) -> None:
        """Queue the calls of judges for which the task's row is ready now."""
        if task.kind != "cell" or self._stopping.is_set():
            return
        try:
            found = self._follow_ups(self._book.reader(self._session, self.name), task.row)
        except NotFound:
            return
        with self._changed:
            if not self._stopping.is_set():
                self._queue.extendleft(reversed(found))
                self._changed.notify_all()

    def _skip(self, task: BranchTask) -> None:
        """Count a task that the experiment no longer asks."""
        if task.kind == "cell":
            with self._changed:
                self._close(task)
                self._total -= 1
            self._follow(task)

    def _refuse(self, task: BranchTask, sentence: str) -> None:
        """Count a call that could not be made at all."""
        self._note(sentence)
        if task.kind == "cell" and task.address is not None:
            with self._changed:
                self._close(task)
                self._failed += 1
                self._refused[task.address] = sentence
            self._follow(task)

    def _close(self, task: BranchTask) -> None:
        """Remove a cell from those that are still to be asked. The caller holds the lock."""
        if task.address in self._open_cells:
            self._open_cells.discard(task.address)
            self._open_rows[task.row] -= 1

    def _note(self, sentence: str) -> None:
        with self._changed:
            if sentence in self._notes or len(self._notes) < 20:
                self._notes[sentence] = self._notes.get(sentence, 0) + 1
