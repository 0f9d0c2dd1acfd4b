"""Adding messages and asking models on a branch: the verbs of `Conversation` that add content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

from forky_core.conversation.people import voices
from forky_core.conversation.people.spending import refuse_to_spend
from forky_core.conversation.reading import BranchReader
from forky_core.conversation.recording import appending
from forky_core.conversation.replies import asking, asking_around
from forky_core.conversation.replies.asking_around import ReplyAttempt
from forky_core.conversation.replies.in_turn import answer_in_turn, models_of
from forky_core.conversation.replies.reply_job import ReplyJob, ReplyTarget
from forky_core.conversation.taking_in import fit_parameters
from forky_core.conversation.typed import draft_of
from forky_core.model import Branch, Message, MessageId, Operation, Role
from forky_core.model.errors import NothingToDo
from forky_core.model.parts import AttachmentPart, Draft, Json


class Speaking(BranchReader):
    """A branch to which messages can be added."""

    def say(
        self,
        text: str,
        *,
        role: Role = "user",
        name: str | None = None,
        attachments: Sequence[AttachmentPart] = (),
    ) -> Message:
        """Add a message without asking a model."""
        draft = draft_of(self._repo, text, attachments, role=role, name=name)
        return asking.say(self._repo, self.branch, draft)[0]

    def append(self, drafts: Sequence[Draft]) -> tuple[Message, ...]:
        """Add messages one after another at the head, as one operation."""
        return appending.append(self._repo, self.branch_name, drafts)

    def empty(self) -> Operation:
        """Point the branch at nothing; its former messages stay visible. Raises NothingToDo if it is empty."""
        return appending.empty(self._repo, self.branch_name)

    def ask(
        self,
        text: str,
        *,
        model: str | None = None,
        attachments: Sequence[AttachmentPart] = (),
        on_text: Callable[[str], None] | None = None,
        reuse: bool | None = None,
        search: str = "",
        **parameters: Json,
    ) -> Message:
        """Add a message and wait for the answer; `on_text` is called with each piece of it.

        `reuse` returns the stored answer to an identical call of this conversation if there is one; None: only if the
        conversation is set so and the call is greedy (temperature 0).

        `search` is the query for documents, if the branch uses them; "": the question, rewritten to stand alone.

        Raises:
            ModelError: there is no complete answer. What had arrived is in the history, marked; `.partial` has it too.
        """
        job = self.send(text, model=model, attachments=attachments, reuse=reuse, search=search, **parameters)
        if on_text is not None:
            for piece in job.follow():
                on_text(piece)
        return job.result()

    def send(
        self,
        text: str,
        *,
        seen: Branch | None = None,
        model: str | None = None,
        attachments: Sequence[AttachmentPart] = (),
        reuse: bool | None = None,
        search: str = "",
        **parameters: Json,
    ) -> ReplyJob:
        """Add a message and start the reply in the background; `reuse` as in `ask`.

        `seen` is the branch as the author saw it: if it has moved since, nothing is written.

        Raises:
            Outdated: see `seen`.
            NotFound: the model is no longer available; nothing was written.
        """
        branch = seen if seen is not None else self.branch
        self._check_model(model or branch.rules.model)
        fit = fit_parameters(parameters)
        draft = draft_of(self._repo, text, attachments)
        message, operation = asking.say(self._repo, branch, draft)
        place = ReplyTarget(self.id, branch.name, message.id, group=operation.number)
        return asking.answer(
            self._repo, place, branch.rules, model=model, parameters=fit, reuse=reuse, search=search
        )

    def send_from(
        self,
        at: MessageId,
        text: str,
        *,
        branch: str | None = None,
        model: str | None = None,
        attachments: Sequence[AttachmentPart] = (),
        search: str = "",
    ) -> tuple[Self, ReplyJob]:
        """Fork at an earlier message and ask there, in one gesture; the new branch, checked out, comes first."""
        rules = self.rules
        self._check_model(model or rules.model)
        draft = draft_of(self._repo, text, attachments)
        point = self.message(at).id
        name, message, operation = asking.say_on_fork(self._repo, branch, point, rules, draft)
        place = ReplyTarget(self.id, name, message.id, group=operation.number)
        return self.checkout(name), asking.answer(self._repo, place, rules, model=model, search=search)

    def ask_all(
        self, text: str, branches: Sequence[Branch | str], *, forks_at: Sequence[MessageId] = ()
    ) -> tuple[ReplyAttempt, ...]:
        """Ask the same on several branches, as one operation; each gets its own reply, or a reason why there is none.

        A `Branch` value is the branch as the author saw it: if it has moved since, it is not asked. At each message of
        `forks_at` a branch is created to ask on; they come last, in that order.
        """
        seen = [self._repo.branch(branch) if isinstance(branch, str) else branch for branch in branches]
        points = [self.message(at).id for at in forks_at]
        forks = asking_around.forks(self.view, points, self.rules)
        return asking_around.ask_all(self._repo, seen, draft_of(self._repo, text), forks)

    def ask_models(
        self, text: str, models: Sequence[str], *, at: str | None = None
    ) -> tuple[ReplyAttempt, ...]:
        """Create a branch for each model at `at` (default: the head) and ask the same on all, as one operation."""
        point = self._point(at)
        return asking_around.ask_models(self._repo, point, self.rules, draft_of(self._repo, text), models)

    def answer(self, *, model: str | None = None) -> ReplyJob:
        """Start a reply to the message at the head: after a failure, or after `say`.

        If several models answer in turn, all of them do; or only `model`, also after another one's answer.

        Raises:
            NothingToDo: the head is an answer already; `regenerate` makes another.
        """
        head = self.head
        if head is None or (head.role == "assistant" and not self._has_a_turn(model, head)):
            raise NothingToDo("There is no open question here.", "Ask one, or regenerate the answer.")
        place = ReplyTarget(self.id, self.branch_name, head.id)
        return answer_in_turn(self._repo, place, self.rules, models_of(self._repo, self.rules, model))

    def edit(
        self,
        message: str,
        text: str,
        *,
        branch: str | None = None,
        model: str | None = None,
        attachments: Sequence[AttachmentPart] | None = None,
    ) -> tuple[Self, ReplyJob | None]:
        """Add an edited version of a message on a new branch, and ask again if it was a question.

        `attachments` None keeps those of the message.
        """
        old = self.message(message)
        files = attachments
        if files is None:
            files = [part for part in old.parts if isinstance(part, AttachmentPart)]
        rules = self.rules
        self._check_model(model or rules.model)
        draft = draft_of(self._repo, text, files, role=old.role, name=old.name)
        name, made, operation = asking.edit(self._repo, self.branch, old, draft, branch)
        forked = self.checkout(name)
        if made.role != "user":
            return forked, None
        place = ReplyTarget(self.id, name, made.id, group=operation.number)
        return forked, answer_in_turn(self._repo, place, rules, models_of(self._repo, self.rules, model))

    def regenerate(
        self, message: str | None = None, *, model: str | None = None, search: str = ""
    ) -> tuple[Self, ReplyJob]:
        """Regenerate an answer (default: the head). The old one stays beside it."""
        target = self.message(message) if message is not None else self.head
        if target is None:
            raise NothingToDo("There is no answer yet.", "Ask something first.")
        self._check_model(model or self.rules.model)
        name, job = asking.regenerate(self._repo, self.branch, target, model=model, search=search)
        return self.checkout(name), job

    def resume(self) -> ReplyJob:
        """Continue the interrupted reply at the head."""
        return asking.resume(self._repo, self.branch)

    @property
    def reply(self) -> ReplyJob | None:
        """The reply that is being written on this branch."""
        return self._repo.replies.on_branch(self.id, self.branch_name)

    @property
    def replies(self) -> tuple[ReplyJob, ...]:
        """Every reply that is being written in this conversation."""
        return self._repo.replies.running(self.id)

    def _has_a_turn(self, model: str | None, said: Message) -> bool:
        """Whether a model may answer the message of another model."""
        return bool(
            model and len(self.view.room.models) > 1 and voices.voice_of(self._repo, model) != said.name
        )

    def _check_model(self, name: str | None) -> None:
        """Check before anything is written: NotFound for an unavailable model, NotAllowed if an
        allowance is used up.
        """
        refuse_to_spend(self._repo)
        self._repo.models.model(name or self._repo.models.default())
