"""`chat.replies`: replies that are being written in the background."""

from __future__ import annotations

from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.people.voices import voice_of
from forky_core.conversation.replies import asking
from forky_core.conversation.replies.in_turn import answer_in_turn, models_of
from forky_core.conversation.replies.reply_job import ReplyJob, ReplyTarget
from forky_core.model import Message
from forky_core.model.errors import InTheWay, NothingToDo


class RunningReplies:
    """The replies of a conversation that are being written now, or were interrupted."""

    def __init__(self, chat: BranchReader) -> None:
        self._chat = chat
        self._session = chat._session

    @property
    def current(self) -> ReplyJob | None:
        """The reply that is being written on this branch."""
        return next((job for job in self.running if job.place.branch == self._chat.branch_name), None)

    @property
    def running(self) -> tuple[ReplyJob, ...]:
        """Every reply that is being written in this conversation."""
        self._session.store.view(self._session.id)  # NotFound for whoever may not see it any more.
        return self._session.replies.running(self._session.id)

    @property
    def is_written_elsewhere(self) -> bool:
        """Whether another process that uses the same database answers the message at the head. One that died is found
        out within seconds.
        """
        head = self._chat.branch.head
        if head is None or self._session.store.is_exclusive:
            return False
        own = {job.generation.id for job in self.running}
        calls = (call for call in self._session.generations() if call.parent == head)
        return any(call.status == "running" and call.id not in own for call in calls)

    def start(self, *, model: str | None = None) -> ReplyJob:
        """Start a reply to the message at the head: after a failure, or after `say`.

        If several models answer in turn, all of them do; or only `model`, also after another one's answer.

        Raises:
            NothingToDo: the head is an answer already; `regenerate` makes another.
            InTheWay: another process writes the answer.
        """
        chat = self._chat
        head, rules = chat.head, chat.branch.rules
        if head is None or (head.role == "assistant" and not self._has_a_turn(model, head)):
            raise NothingToDo("There is no open question here.", "Ask one, or regenerate the answer.")
        if self.is_written_elsewhere:  # It would be paid for twice.
            raise InTheWay(
                "Another process of this Forky writes the answer.", "Wait for it, or fork and ask there."
            )
        target = ReplyTarget(chat.id, chat.branch_name, head.id)
        return answer_in_turn(self._session, target, rules, models_of(self._session, rules, model))

    def _has_a_turn(self, model: str | None, last: Message) -> bool:
        """Whether a model may answer the message of another model."""
        several = len(self._chat.view.room.models) > 1
        return bool(model and several and voice_of(self._session, model) != last.name)

    def resume(self) -> ReplyJob:
        """Continue the interrupted reply at the head; the new reply begins with its text.

        An offline model, which cannot continue a text, answers again. Raises NothingToDo if the head is no such reply.
        """
        branch = self._chat.branch
        head = self._session.message(branch.head) if branch.head is not None else None
        generation = self._session.origins(branch.name).of(head.id).call if head is not None else None
        if (
            head is None
            or head.parent is None
            or generation is None
            or generation.status not in ("stopped", "interrupted")
        ):
            raise NothingToDo("The last message is not an interrupted reply.")
        info = self._session.models.model(generation.model).info()
        if not info.continues:
            return asking.regenerate(self._session, branch, head, model=generation.model)[1]
        target = ReplyTarget(
            self._session.id, branch.name, head.parent, replaces=head.id, begins_with=head.parts
        )
        return asking.answer(self._session, target, branch.rules, model=generation.model, resumes=head)
