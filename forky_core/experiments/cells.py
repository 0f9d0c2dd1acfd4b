"""Reads the result of a cell from its branch: the answer, its call, and the verdicts of the checks.

Results are not stored. If a branch has another question or other rules than the experiment asks now (because the prompt
was edited, or another column got the name), its cell counts as not asked, and the old answer stays in the conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Literal

from forky_core.experiments import judge
from forky_core.experiments.checks.registry import judged, turned
from forky_core.experiments.checks.verdict import AnswerFacts, CheckVerdict, Verdict
from forky_core.experiments.plan import CellQuestion, ExperimentPlan, values_of
from forky_core.model import Generation, GenerationId, Message, MessageId, View
from forky_core.model.experiment import BEST, JUDGE, MARKS, SCORES, CellAddress, ExperimentRow, RowCheck

CellStatus = Literal["waiting", "running", "done", "failed"]
"""`waiting`: the present question was not asked. `failed`: there is no complete answer, and `why` says why."""
_ANY = ""
"""Stands for any branch in the keys of an index; a branch's name is never empty."""
_FARTHEST = 10_000
"""How many messages are read back from a branch's head to find its question."""


@dataclass(frozen=True, slots=True)
class PersonMark:
    """A person's verdict on an answer."""

    passed: bool
    by: str


@dataclass(frozen=True, slots=True)
class BranchAnswer:
    """The answer to a question on a branch."""

    status: CellStatus
    message: Message | None = None
    call: Generation | None = None
    why: str = ""
    """Why there is no complete answer."""
    went_on: bool = False
    """Whether the branch continues below the answer."""


@dataclass(frozen=True, slots=True)
class CellResult:
    """The result of one cell of an experiment: its question, the answer, and the verdicts on it."""

    address: CellAddress
    branch: str
    question: CellQuestion
    reply: BranchAnswer
    verdicts: tuple[CheckVerdict, ...] = ()
    mark: PersonMark | None = None
    threshold: float | None = None

    @property
    def status(self) -> CellStatus:
        return self.reply.status

    @property
    def answer(self) -> Message | None:
        """The complete answer; None without one."""
        return self.reply.message if self.status == "done" else None

    @property
    def text(self) -> str:
        """The text of the answer, even of an incomplete one."""
        return self.reply.message.text if self.reply.message is not None else ""

    @property
    def call(self) -> Generation | None:
        return self.reply.call

    @property
    def deciding(self) -> tuple[CheckVerdict, ...]:
        """The verdicts that decide whether the cell passes."""
        return tuple(one for one in self.verdicts if one.check.weight > 0)

    @property
    def score(self) -> float | None:
        """The weighted mean of the checks' scores; None while one is missing."""
        points = [(one.check.weight, one.verdict.points) for one in self.deciding]
        if not points or any(value is None for _, value in points):
            return None
        return sum(weight * (value or 0.0) for weight, value in points) / sum(weight for weight, _ in points)

    @property
    def passed(self) -> bool | None:
        """Whether the answer passes; without checks, a person's mark decides. None if that is not known (yet)."""
        if self.answer is None:
            return None
        if not self.deciding:
            return self.mark.passed if self.mark is not None else None
        if self.threshold is not None:
            return None if self.score is None else self.score >= self.threshold - 1e-9
        results = [one.verdict.passed for one in self.deciding]
        if False in results:
            return False
        return None if None in results else True


@dataclass(slots=True)
class CellReader:
    """Reads the cells of one experiment as they were at one moment."""

    plan: ExperimentPlan
    view: View
    messages: Mapping[MessageId, Message]
    calls: CellCalls
    running: frozenset[str]
    """The branches on which a reply is being written."""
    cache: dict[tuple[object, ...], Any] = field(default_factory=dict)
    """Verdicts and questions to judges that were computed before; its keys may have `id`s of the plan's checks."""

    def read(self, address: CellAddress) -> CellResult:
        """Read a cell. Raises KeyError if the experiment has no such row or column."""
        experiment = self.plan.experiment
        question = self.plan.question(address)
        row, branch = self.plan.rows[address.row], address.branch(experiment.name)
        reply = self.answer_on(branch, question)
        verdicts: tuple[CheckVerdict, ...] = ()
        mark = None
        if reply.status == "done" and reply.message is not None:
            checks = experiment.checks_of(row)
            verdicts = tuple(
                self._verdict(address, row, check, reply)
                for check in checks
                if check.kind != BEST or address.sample == 1
            )
            mark = self._mark(address, reply.message)
        return CellResult(address, branch, question, reply, verdicts, mark, row.threshold)

    def answer_on(self, branch: str, question: CellQuestion) -> BranchAnswer:
        """Return the answer to a question on a branch; `waiting` if the branch has other rules than the question."""
        entries = self.view.entries
        entry = entries.get(f"heads/{branch}")
        stored: Any = entries.get(f"rules/{branch}") or {}
        if entry is None or stored != question.stored_rules:
            return BranchAnswer("waiting")
        head = entry["at"]
        call = self.calls.latest(branch, question.id)
        answer = self._below(question.id, head)
        if branch in self.running and call is not None and call.status == "running":
            return BranchAnswer("running", answer, call)
        if head == question.id:
            failed = call is not None and call.status in ("failed", "stopped", "interrupted")
            return (
                BranchAnswer("failed", None, call, _why(call)) if failed and call else BranchAnswer("waiting")
            )
        if answer is None:
            return BranchAnswer("waiting")
        if call is None or call.message != answer.id:
            call = self.calls.of_message(branch, answer.id) or call
        went_on = answer.id != head
        if call is not None and call.message == answer.id and call.status in ("stopped", "interrupted"):
            return BranchAnswer("failed", answer, call, _why(call), went_on)
        return BranchAnswer("done", answer, call, "", went_on)

    def is_continued(self, head: MessageId, at: MessageId | None) -> bool:
        """Whether somebody has continued a cell's branch that ends at this head.

        Then there are more messages than a cell has between the head and `at`, the message below which the row is
        asked.
        """
        message = self.messages.get(head)
        deepest = max((len(column.turns) for column in self.plan.columns.values()), default=1) + 1
        for _ in range(deepest):
            if message is None or message.parent in (None, at):
                return False
            message = self.messages.get(message.parent)
        return message is not None

    def leads_to(self, question: MessageId, head: MessageId) -> bool:
        """Whether the path from `head` to the root contains a message that answers `question`."""
        return self._below(question, head) is not None

    def _below(self, question: MessageId, head: MessageId | None) -> Message | None:
        """Return the first message below `question` on the path from `head` to the root."""
        message = self.messages.get(head) if head is not None else None
        for _ in range(_FARTHEST):
            if message is None or message.parent == question:
                return message
            message = self.messages.get(message.parent) if message.parent is not None else None
        return None

    # Verdicts

    def _verdict(
        self, address: CellAddress, row: ExperimentRow, check: RowCheck, reply: BranchAnswer
    ) -> CheckVerdict:
        assert reply.message is not None
        if check.kind == JUDGE:
            return self._judged(address, row, check, reply)
        if check.kind == BEST:
            return self._best(address, row, check)
        if is_scored(check):
            return CheckVerdict(check, self._scored(address, check, reply.message))
        key = (
            "verdict",
            row.id,
            check.key,
            reply.message.id,
            reply.call.id if reply.call is not None else "",
        )
        if key not in self.cache:
            self.cache[key] = judged(check, facts_of(row, reply))
        return CheckVerdict(check, self.cache[key])

    def judge_question(
        self, row: ExperimentRow, asked: str, check: RowCheck, reply: BranchAnswer
    ) -> CellQuestion:
        """Return the question to a judge about an answer."""
        assert reply.message is not None
        key = ("judge", row.id, id(check), reply.message.id, asked)
        if key not in self.cache:
            message = judge.question(facts_of(row, reply), asked, check)
            model = check.model or self.plan.experiment.judge
            self.cache[key] = CellQuestion((message,), judge.rules(model))
        found: CellQuestion = self.cache[key]
        return found

    def _judged(
        self, address: CellAddress, row: ExperimentRow, check: RowCheck, reply: BranchAnswer
    ) -> CheckVerdict:
        branch = judge_branch(self.plan.experiment.name, address, check)
        question = self.judge_question(row, self.plan.question(address).text, check, reply)
        judgement = self.answer_on(branch, question)
        if judgement.status != "done" or judgement.message is None:
            return CheckVerdict(check, Verdict(None, _pending(judgement)), branch)
        verdict = judge.verdict_in(judgement.message.text, check, question.text)
        return CheckVerdict(check, turned(verdict) if check.negated else verdict, branch)

    def competitors(self, row: ExperimentRow) -> tuple[tuple[CellAddress, BranchAnswer], ...]:
        """Return the first samples of a row with their answers, by column."""
        return tuple(
            (address, self.answer_on(address.branch(self.plan.experiment.name), self.plan.question(address)))
            for column in self.plan.experiment.columns
            for address in (CellAddress(row.id, column.id),)
        )

    def best_questions(
        self, row: ExperimentRow, check: RowCheck
    ) -> tuple[tuple[CellAddress, ...], tuple[tuple[str, tuple[int, ...], CellQuestion], ...]]:
        """Return the cells that are compared and, for each order of them, its branch and the question to the judge.
        There are no questions if there are fewer than two answers.
        """
        done = [(a, r) for a, r in self.competitors(row) if r.status == "done" and r.message is not None]
        done = done[: judge.MOST_COMPARED]
        cells = tuple(address for address, _ in done)
        if len(done) < 2:
            return cells, ()
        key = ("best", row.id, id(check), *(reply.message.id for _, reply in done if reply.message), *cells)
        if key not in self.cache:
            experiment = self.plan.experiment
            answers = [facts_of(row, reply) for _, reply in done]
            asked = self.plan.question(cells[0]).text
            rules = judge.rules(check.model or experiment.judge, best=True)
            self.cache[key] = tuple(
                (
                    best_branch(experiment.name, row.id, check, number),
                    order,
                    CellQuestion((judge.best_question(answers, order, asked, check),), rules),
                )
                for number, order in enumerate(judge.orders(len(done), experiment.seed, row.id), 1)
            )
        return cells, self.cache[key]

    def _best(self, address: CellAddress, row: ExperimentRow, check: RowCheck) -> CheckVerdict:
        first = best_branch(self.plan.experiment.name, row.id, check, 1)
        if any(reply.status in ("waiting", "running") for _, reply in self.competitors(row)):
            return CheckVerdict(check, Verdict(None, "waits for the other answers of its row"))
        cells, questions = self.best_questions(row, check)
        if questions and address not in cells:
            why = f"is not compared: a judge compares the first {judge.MOST_COMPARED} answers of a row"
            return CheckVerdict(check, Verdict(None, why))
        if not questions:
            return CheckVerdict(check, Verdict(None, "there is no second answer to compare it with"))
        chosen: list[tuple[int, str]] = []
        for branch, order, question in questions:
            judgement = self.answer_on(branch, question)
            if judgement.status != "done" or judgement.message is None:
                return CheckVerdict(check, Verdict(None, _pending(judgement)), branch)
            best, reason = judge.best_in(judgement.message.text, order, question.text)
            if best is None:
                return CheckVerdict(check, Verdict(None, reason), branch)
            chosen.append((best, reason))
        (one, reason), (other, _) = chosen
        if one != other:
            names = " and ".join(f"“{cells[place].column}”" for place in (one, other))
            why = f"the judge chose {names}, depending on the order in which it read them"
            return CheckVerdict(check, Verdict(None, why), first)
        verdict = Verdict(
            cells[one] == address, f"“{cells[one].column}” is the best in both orders: {reason}"
        )
        return CheckVerdict(check, turned(verdict) if check.negated else verdict, first)

    def _scored(self, address: CellAddress, check: RowCheck, answer: Message) -> Verdict:
        entry: Any = self.view.entries.get(f"{SCORES}{self.plan.experiment.name}/{address.key}")
        found = entry.get("verdicts", {}).get(judge.mark_of(check)) if entry else None
        if not found or entry.get("answer") != answer.id:
            return Verdict(
                None, "your code has not judged it yet" if check.kind == "code" else "not compared yet"
            )
        verdict = Verdict(found.get("passed"), str(found.get("reason", "")), found.get("score"))
        return turned(verdict) if check.negated else verdict

    def _mark(self, address: CellAddress, answer: Message) -> PersonMark | None:
        entry: Any = self.view.entries.get(f"{MARKS}{self.plan.experiment.name}/{address.key}")
        if not entry or entry.get("answer") != answer.id:
            return None
        return PersonMark(bool(entry.get("passed")), str(entry.get("by", "")))


class CellCalls:
    """An index of a conversation's calls, by branch and by the message that they produced.

    A run needs it after each of its calls, so it is updated and not made again. It can be used from any thread.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: set[GenerationId] = set()
        self._running: dict[GenerationId, Generation] = {}
        self._latest: dict[tuple[str, MessageId | None], Generation] = {}
        self._of_message: dict[tuple[str, MessageId], Generation] = {}

    def latest(self, branch: str, parent: MessageId) -> Generation | None:
        return self._latest.get((branch, parent))

    def of_message(self, branch: str, message: MessageId) -> Generation | None:
        """Return the newest call on a branch that produced this message, or else the newest on any branch."""
        return self._of_message.get((branch, message)) or self._of_message.get((_ANY, message))

    def update(self, read: Callable[[], Sequence[Generation]]) -> bool:
        """Update the index; `read` returns all calls of the conversation, in the order in which they began.

        It reads backwards only as far as there are new calls or calls that were running, because a call that has ended
        never changes. It returns False if calls are gone or have moved, so that a new index is needed.
        """
        with self._lock:
            calls = read()
            fresh, running = len(calls) - len(self._known), set(self._running)
            for call in reversed(calls):
                if fresh <= 0 and not running:
                    break
                if call.id not in self._known:
                    fresh -= 1
                    self._put(call)
                elif call.id in running:
                    running.discard(call.id)
                    before = self._running[call.id]
                    if (before.branch, before.parent) != (call.branch, call.parent):
                        return False
                    self._put(call)
            return fresh == 0 and not running

    def _put(self, call: Generation) -> None:
        self._known.add(call.id)
        if call.status == "running":
            self._running[call.id] = call
        else:
            self._running.pop(call.id, None)
        place = (call.branch, call.parent)
        if _is_newest(call, self._latest.get(place)):
            self._latest[place] = call
        if call.message is not None:
            for key in ((call.branch, call.message), (_ANY, call.message)):
                if _is_newest(call, self._of_message.get(key)):
                    self._of_message[key] = call


def _is_newest(call: Generation, other: Generation | None) -> bool:
    return other is None or (other.started, other.id) <= (call.started, call.id)


def facts_of(row: ExperimentRow, reply: BranchAnswer) -> AnswerFacts:
    """Convert an answer to the form that checks take."""
    assert reply.message is not None
    return AnswerFacts(reply.message.text, row.reference, values_of(row), reply.call)


def is_scored(check: RowCheck) -> bool:
    """Whether a check is judged only once, when the answer is complete, and its verdict stored."""
    return check.kind == "code" or (check.kind == "similar" and check.model is not None)


def judge_branch(experiment: str, address: CellAddress, check: RowCheck) -> str:
    """Return the branch on which a judge answers about a cell."""
    return f"{address.branch(experiment)}/{JUDGE}-{judge.mark_of(check)}"


def best_branch(experiment: str, row: int, check: RowCheck, number: int) -> str:
    """Return the branch on which a judge compares the answers of a row, in the first or second order."""
    return f"{experiment}/{row}/{BEST}-{judge.mark_of(check)}/{number}"


def _why(call: Generation) -> str:
    return call.failure.sentence if call.failure is not None else "There is no answer."


def _pending(judgement: BranchAnswer) -> str:
    if judgement.status == "failed":
        return f"the judge did not answer: {judgement.why}"
    return "is being judged" if judgement.status == "running" else "not judged yet"
