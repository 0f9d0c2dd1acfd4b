"""A rebase: what moving a branch onto another one, or a message, would do, and asking its questions again there."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from forky_core.conversation.identity import now
from forky_core.conversation.merging.merging import reader_of, statuses
from forky_core.conversation.replies.asking import answer, refuse_if_erased, refuse_if_moved
from forky_core.conversation.replies.reply_job import ReplyJob, ReplyTarget
from forky_core.conversation.session import BackgroundTask, Session, short
from forky_core.merge.inputs import MergeInputs
from forky_core.merge.rebase import RebasePlan, plan_rebase
from forky_core.model import Branch, Message, MessageId, seal
from forky_core.model.errors import ForkyError, NotFound, NothingToDo
from forky_core.model.graph import parents_in
from forky_core.model.parts import Draft
from forky_core.process import events


def plan(session: Session, branch: str, onto: str | MessageId) -> RebasePlan:
    """What moving `branch` onto another branch, or onto a message, would do.

    Raises:
        NothingToDo: one of the two is empty, or they are the same.
        NotFound: there is neither a branch nor a message of that name.
    """
    here = session.branch(branch)
    name, at = _place(session, onto)
    if here.head is None or at is None:
        raise NothingToDo(f"“{branch if here.head is None else name}” is empty.", "Say something first.")
    if name == branch:
        raise NothingToDo(f"“{branch}” stands on itself.", "Choose another branch.")
    return plan_rebase(_ground(session, here, here.head, name, at), here.rules)


def _place(session: Session, onto: str) -> tuple[str, MessageId | None]:
    """The name and the head of the branch or message that `onto` names."""
    view = session.view
    if onto in view.branches:
        return onto, view.branch(onto).head
    try:
        message = session.message(onto)
    except NotFound as error:
        there = ", ".join(f"“{name}”" for name in view.branches)
        raise NotFound(
            f"“{onto[:80]}” is neither a branch nor a message. {error}", f"Branches: {there}."
        ) from error
    return short(message.id), message.id


def _ground(session: Session, branch: Branch, head: MessageId, name: str, at: MessageId) -> MergeInputs:
    messages, reader = session.messages, reader_of(session, branch.rules)
    return MergeInputs(
        target=at,
        source=head,
        target_name=name,
        source_name=branch.name,
        lookup=messages.__getitem__,
        parents_of=parents_in(messages),
        count_tokens=reader.count_tokens,
        statuses=statuses(session),
        file_access=reader.file_access,
    )


class RebaseReplay(BackgroundTask):
    """One running rebase that asks a model the branch's questions again in the new place, one after the other.

    It runs in the background, can be stopped, and reports what it did. Everything it writes is one gesture, which one
    undo reverts; the former head stays visible, so that nothing is lost if it ends early. It ends if somebody moves the
    branch. It is safe to read from any thread.
    """

    def __init__(self, session: Session, plan: RebasePlan, model: str | None) -> None:
        super().__init__()
        self._session = session
        self.plan = plan
        self.model = model
        self.answers: tuple[Message, ...] = ()
        """The new answers, in the order of their questions."""
        self.error: ForkyError | None = None
        """The reason it ended early; None if it was stopped, or finished."""
        self._reply: ReplyJob | None = None
        self._group: int | None = None

    @property
    def running(self) -> bool:
        return not self._ended.is_set()

    @property
    def reply(self) -> ReplyJob | None:
        """The answer that is being written."""
        return self._reply if self.running else None

    def stop(self) -> None:
        super().stop()
        reply = self._reply
        if reply is not None:
            reply.stop()

    @property
    def summary(self) -> str:
        """A sentence or two about what it has done so far."""
        done, total, branch = len(self.answers), len(self.plan.turns), self.plan.branch
        what = f"{done} of {total} questions of “{branch}” answered again on “{self.plan.onto_name}”."
        if self.running or done == total:
            return what
        why = f"Ended by: {self.error}" if self.error is not None else "Stopped."
        return f"{what} {why} The old line is kept: {short(self.plan.head)}."

    def begin(self) -> None:
        """Write the first question and continue in the background; errors as in `BranchMerges.replay`."""
        turns = self.plan.turns
        head = self._put(turns[0], self.plan.onto)
        threading.Thread(target=self._run, args=(turns, head), name="replay", daemon=True).start()

    def _put(self, turn: Sequence[Message], below: MessageId) -> MessageId:
        """Copy the questions of one turn below `below` and move the branch there."""
        tx = self._session.require_not_trashed()
        first = self._group is None
        refuse_if_erased(tx.view, self.plan.made)
        refuse_if_moved(self._session, tx, self.plan.branch, self.plan.head if first else below)
        for old in turn:
            draft = Draft(old.role, old.parts, old.name, (old.id,))
            copy = seal(draft, (below, *old.parents[1:]), created=now())
            tx.messages.append(copy)
            below = copy.id
        tx.move(self.plan.branch, below)
        if first:
            tx.keep(self.plan.head)
            count = len(self.plan.turns)
            asks = "1 question" if count == 1 else f"{count} questions"
            summary = f"Rebased “{self.plan.branch}” onto “{self.plan.onto_name}”, asking {asks} again"
            self._group = tx.publish("rebase", summary).number
        else:
            tx.publish("ask", f"Asked again on “{self.plan.branch}”", group=self._group)
        return below

    def _run(self, turns: Sequence[Sequence[Message]], head: MessageId) -> None:
        try:
            for number, turn in enumerate(turns):
                if number:
                    head = self._put(turn, head)
                if self._stop.is_set():
                    return
                head = self._answered(head)
        except ForkyError as error:
            if not self._stop.is_set():
                self.error = error
                events.background_failed(conversation=self._session.id, work="replay", fault=error)
        except Exception as error:  # noqa: BLE001
            # The person learns that it failed, whatever the error; the details are logged.
            events.background_failed(conversation=self._session.id, work="replay", fault=error)
            self.error = ForkyError(
                f"Something failed inside Forky ({type(error).__name__}).", "Its log has the details."
            )
        finally:
            self._session.replays.discard(self)
            self._ended.set()

    def _answered(self, question: MessageId) -> MessageId:
        """Wait for the new answer. Raises ModelError if it is incomplete; what arrived is stored and marked."""
        target = ReplyTarget(self._session.id, self.plan.branch, question, group=self._group)
        rules = self._session.branch(self.plan.branch).rules
        self._reply = answer(self._session, target, rules, model=self.model)
        if self._stop.is_set():
            self._reply.stop()
        message = self._reply.result()
        if self._reply.generation.status == "stopped":
            self._stop.set()
            raise NothingToDo("It was stopped.")
        self.answers = (*self.answers, message)
        return message.id
