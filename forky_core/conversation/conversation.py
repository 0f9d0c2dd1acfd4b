"""A conversation with one of its branches checked out: the object that a person, a page or a script works with.

It has no state but the branch's name; everything else is read on each call, so that any number of handles, tabs and
threads agree. Checking out changes nothing and is not recorded. What is done every day is a method here; the rest is
behind a name for its topic (namespaces/).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Self

from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.identity import title_line
from forky_core.conversation.merging.merge_step import merge_step
from forky_core.conversation.session import short
from forky_core.conversation.validation import fit_parameters
from forky_core.merge.options import NO_CHOICES, MergeOptions
from forky_core.model import Branch, Message, MessageId, Operation, Role
from forky_core.model.errors import BadContent, NothingToDo
from forky_core.model.hashing import mend_text
from forky_core.model.parts import AttachmentPart, Draft, Json
from forky_core.model.payload_kinds import SQUASH
from forky_core.process.lazy_names import import_when_used

if TYPE_CHECKING:
    from forky_core.conversation import branching, history
    from forky_core.conversation.merging import landing, merging, reverting
    from forky_core.conversation.merging.reverting import RevertPlan
    from forky_core.conversation.namespaces.bisections import Bisections
    from forky_core.conversation.namespaces.branch_documents import BranchDocuments
    from forky_core.conversation.namespaces.branch_merges import BranchMerges
    from forky_core.conversation.namespaces.branch_rules import BranchRules
    from forky_core.conversation.namespaces.branches import Branches
    from forky_core.conversation.namespaces.conversation_history import ConversationHistory
    from forky_core.conversation.namespaces.merge_requests import MergeRequests
    from forky_core.conversation.namespaces.model_calls import ModelCalls
    from forky_core.conversation.namespaces.participants import Participants
    from forky_core.conversation.namespaces.running_replies import RunningReplies
    from forky_core.conversation.namespaces.stashes import Stashes
    from forky_core.conversation.namespaces.tags import Tags
    from forky_core.conversation.people.spending import refuse_to_spend
    from forky_core.conversation.replies import asking, asking_around
    from forky_core.conversation.replies.asking import draft_of
    from forky_core.conversation.replies.asking_around import ReplyAttempt
    from forky_core.conversation.replies.in_turn import answer_in_turn, models_of
    from forky_core.conversation.replies.reply_job import ReplyJob, ReplyTarget
    from forky_core.conversation.voting.polls import Polls
    from forky_core.merge.conflicts.conflict import Choice, Policy
    from forky_core.merge.plan import MergePlan
else:
    import_when_used(globals(), __spec__)

LONGEST_NOTE = 20_000
"""Characters of one note of a speaker."""


class Conversation(BranchReader):
    """One conversation with one of its branches checked out."""

    # Namespaces

    @property
    def rules(self) -> BranchRules:
        """What this branch's requests are made with: system prompt, model, parameters, memory, pins and exclusions."""
        return BranchRules(self)

    @property
    def documents(self) -> BranchDocuments:
        """The documents of this branch, to add to and to search, and how its answers use them."""
        return BranchDocuments(self)

    @property
    def people(self) -> Participants[Self]:
        """Who takes part, when models answer them, and what each may spend."""
        return Participants(self)

    @property
    def branches(self) -> Branches[Self]:
        """The branches by name; also to begin, rename, delete, promote, empty and prune them."""
        return Branches(self)

    @property
    def tags(self) -> Tags:
        """The tags by name; also to add and to remove them."""
        return Tags(self)

    @property
    def stashes(self) -> Stashes:
        """Drafts, settings and messages that are put aside."""
        return Stashes(self)

    @property
    def history(self) -> ConversationHistory:
        """The log of operations, what undo and redo would do, and earlier states to restore."""
        return ConversationHistory(self)

    @property
    def merges(self) -> BranchMerges:
        """Grafts, fusions, rebases, and conflicts that merges left open."""
        return BranchMerges(self)

    @property
    def requests(self) -> MergeRequests:
        """Merges that somebody proposes and somebody else decides."""
        return MergeRequests(self)

    @property
    def bisections(self) -> Bisections:
        """Searches for the first message from which something fails."""
        return Bisections(self)

    @property
    def polls(self) -> Polls:
        """Votes on answers: opened, given, counted and revealed."""
        return Polls(self)

    @property
    def replies(self) -> RunningReplies:
        """Replies that are being written in the background, and those that were interrupted."""
        return RunningReplies(self)

    @property
    def calls(self) -> ModelCalls:
        """Model calls: what one would send, what was called, those of other programs, and reused answers."""
        return ModelCalls(self)

    # Adding messages and asking models

    def say(
        self,
        text: str,
        *,
        role: Role = "user",
        name: str | None = None,
        attachments: Sequence[AttachmentPart] = (),
        seen: Branch | None = None,
    ) -> Message:
        """Add a message without asking a model; `seen` as in `send`."""
        draft = draft_of(self._session, text, attachments, role=role, name=name)
        return asking.say(self._session, seen or self.branch, draft)[0]

    def append(self, drafts: Sequence[Draft]) -> tuple[Message, ...]:
        """Add messages one after another at the head, as one operation."""
        return branching.append(self._session, self.branch_name, drafts)

    def ask(
        self,
        text: str,
        *,
        model: str | None = None,
        attachments: Sequence[AttachmentPart] = (),
        on_text: Callable[[str], None] | None = None,
        reuse: bool | None = None,
        search: str = "",
        timeout: float | None = None,
        **parameters: Json,
    ) -> Message:
        """Add a message and wait for the answer; `on_text` is called with each piece of it.

        `reuse` returns the stored answer to an identical call of this conversation if there is one; None: only if the
        conversation is set so and the call is greedy (temperature 0).

        `search` is the query for documents, if the branch uses them; "": the question, rewritten to stand alone.

        `timeout` is in seconds: a reply that is not complete by then is stopped.

        Raises:
            ModelError: there is no complete answer. What had arrived is in the history, marked; `.partial` has it too.
        """
        job = self.send(text, model=model, attachments=attachments, reuse=reuse, search=search, **parameters)
        with job.stopped_after(timeout):
            if on_text is not None:
                for piece in job.follow():
                    on_text(piece)
            return job.result()

    async def ask_async(
        self,
        text: str,
        *,
        model: str | None = None,
        attachments: Sequence[AttachmentPart] = (),
        reuse: bool | None = None,
        search: str = "",
        **parameters: Json,
    ) -> Message:
        """`ask` for a program with an event loop, which goes on meanwhile. Cancelling it stops the reply."""
        send = partial(self.send, model=model, attachments=attachments, reuse=reuse, search=search)
        starting = asyncio.ensure_future(asyncio.to_thread(send, text, **parameters))
        try:
            return await (await asyncio.shield(starting)).landed()
        except asyncio.CancelledError:
            (await starting).stop()
            raise

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
        draft = draft_of(self._session, text, attachments)
        message, operation = asking.say(self._session, branch, draft)
        place = ReplyTarget(self.id, branch.name, message.id, group=operation.number)
        return asking.answer(
            self._session, place, branch.rules, model=model, parameters=fit, reuse=reuse, search=search
        )

    def ask_all(
        self, text: str, branches: Sequence[Branch | str], *, forks_at: Sequence[MessageId] = ()
    ) -> tuple[ReplyAttempt, ...]:
        """Ask the same on several branches, as one operation; each gets its own reply, or a reason why there is none.

        A `Branch` value is the branch as the author saw it: if it has moved since, it is not asked. At each message of
        `forks_at` a branch is created to ask on; they come last, in that order.
        """
        seen = [self._session.branch(branch) if isinstance(branch, str) else branch for branch in branches]
        points = [self.message(at).id for at in forks_at]
        forks = asking_around.forks(self.view, points, self.branch.rules, text)
        return asking_around.ask_all(self._session, seen, draft_of(self._session, text), forks)

    def ask_models(
        self, text: str, models: Sequence[str], *, at: str | None = None
    ) -> tuple[ReplyAttempt, ...]:
        """Create a branch for each model at `at` (default: the head) and ask the same on all, as one operation."""
        point = self._point(at)
        return asking_around.ask_models(
            self._session, point, self.branch.rules, draft_of(self._session, text), models
        )

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
        rules = self.branch.rules
        self._check_model(model or rules.model)
        draft = draft_of(self._session, text, files, role=old.role, name=old.name)
        name, made, operation = asking.edit(self._session, self.branch, old, draft, branch)
        forked = self.checkout(name)
        if made.role != "user":
            return forked, None
        place = ReplyTarget(self.id, name, made.id, group=operation.number)
        return forked, answer_in_turn(
            self._session, place, rules, models_of(self._session, self.branch.rules, model)
        )

    def regenerate(
        self, message: str | None = None, *, model: str | None = None, search: str = ""
    ) -> tuple[Self, ReplyJob]:
        """Regenerate an answer (default: the head). The old one stays beside it."""
        target = self.message(message) if message is not None else self.head
        if target is None:
            raise NothingToDo("There is no answer yet.", "Ask something first.")
        self._check_model(model or self.branch.rules.model)
        name, job = asking.regenerate(self._session, self.branch, target, model=model, search=search)
        return self.checkout(name), job

    # Branches and merging

    def fork(self, name: str | None = None, *, at: str | None = None) -> Conversation:
        """Create a branch at `at` (default: the head) and check it out. Copies no message."""
        point = self._point(at)
        return self.checkout(branching.fork(self._session, name, point, self.branch.rules))

    @merge_step("plan")
    def plan_merge(  # noqa: PLR0913 - each argument is a choice of the person
        self,
        source: Conversation | str | Sequence[Conversation | str],
        *,
        strategy: str = SQUASH.name,
        picks: Sequence[str] = (),
        focus: str = "",
        budget: int | None = None,
        model: str | None = None,
        force: bool = False,
        again: bool = False,
        looked_at: bool = False,
        reread: bool = False,
        policy: Policy = "ask",
        choices: Mapping[str, Choice | None] = NO_CHOICES,
        stop: Event | None = None,
    ) -> MergePlan:
        """What merging a branch (or picked messages of it) into this one would write. Writes nothing (law 8).

        Several sources make an octopus: one message with a payload for each source, as a squash or in full; a three-way
        merge has one payload for all. The plan's `conflicts` are places where the branches can't both be right (only
        possible ones until `merges.examine` has asked a model), `corrects` what it changes of earlier merges.

        `budget` is in tokens. With a `model`, the note of a squash or a three-way merge is written by it and verified;
        without, it quotes lines. The plan's `doubts` are the sentences that were struck out or not confirmed; one that
        was not confirmed says so in the text, unless `looked_at` says that a person reads the plan before it lands.
        Notes are cached; `reread` ignores the cache, and setting `stop` cancels a model's call. `force` makes a merge
        message where a fast-forward would do. `again` ignores earlier merges of the same source: use it after one was
        reverted. In a three-way merge, `choices` resolves conflicts by key or hash, and `policy` the others.

        Raises:
            SquashRejected: nothing that the model wrote stands.
            ModelError: the model did not answer.
        """
        picked = tuple(self.message(pick).id for pick in picks)
        options = MergeOptions(
            strategy, picked, focus, budget, model, force, again, looked_at, reread, policy, choices
        )
        sources = [source] if isinstance(source, Conversation | str) else source
        names = [one if isinstance(one, str) else one.branch_name for one in sources]
        if any(one.id != self.id for one in sources if isinstance(one, Conversation)):
            raise BadContent("That is a branch of another conversation.", "Graft it: chat.merges.plan_graft.")
        return merging.plan(self._session, self.branch_name, names, options, stop)

    @merge_step("land")
    def merge(self, plan: MergePlan | Conversation | str, prompt: str = "") -> Operation:
        """Land a plan as one operation; a branch in its place is planned as `plan_merge` does and landed at once.

        `prompt` says what a branch's note is to be about: it is the `focus` of its plan.

        Raises:
            Outdated: one of the branches has moved since the plan was made; nothing was written.
            NothingToDo: there is nothing to bring.
            BadContent: there is a prompt for a plan, which has its focus already.
        """
        if isinstance(plan, Conversation | str):
            plan = self.plan_merge(plan, focus=prompt)
        elif prompt:
            raise BadContent("This plan is made already.", "Plan the merge with focus= instead.")
        return landing.land(self._session, plan)

    @merge_step("plan")
    def plan_revert(self, *messages: str, note: str = "") -> RevertPlan:
        """What reverting messages of this branch would do: merges, picks, turns, or an earlier revert.

        The model reads `note` in their place. Raises NothingToDo if all of them are reverted already.
        """
        ids = [self.message(message).id for message in messages]
        return reverting.plan_revert(self._session, self.branch, ids, note)

    @merge_step("land")
    def revert(self, plan: RevertPlan) -> Message:
        """Land a plan as one message. Contexts of messages below it leave the targets out.

        Raises:
            Outdated: the branch has moved since the plan was made; nothing was written.
        """
        return reverting.revert(self._session, plan)

    # The conversation itself

    def undo(self, *, seen: int | None = None) -> Operation:
        """Undo the last gesture. A reply that is being written is stopped first.

        `seen` is the number of the last operation as its author saw it: if another followed, nothing is written.
        """
        return history.undo(self._session, seen)

    def redo(self, *, seen: int | None = None) -> Operation:
        """Redo what the last undo reverted; `seen` as in `undo`. Raises NothingToDo if there is nothing to redo."""
        return history.redo(self._session, seen)

    def note(self, message: str, text: str) -> Operation:
        """Write what a speaker wants to say at a message when this is presented; "" removes it."""
        said = mend_text(text).strip()
        if len(said) > LONGEST_NOTE:
            raise BadContent(f"A note has at most {LONGEST_NOTE:,} characters.", "Shorten it.")
        tx, at = self._session.require_not_trashed(), self.message(message).id
        tx.set(f"notes/{at}", said or None)
        what = "Wrote the speaker's note" if said else "Removed the speaker's note"
        return tx.publish("note", f"{what} at {short(at)}", unchanged="The note says that already.")

    def rename(self, title: str) -> Operation:
        """Give the conversation another title. Raises NothingToDo if the title is empty, or is its title already."""
        line = title_line(title)
        if not line:
            raise NothingToDo("A conversation needs a title.", "Type a word or two.")
        tx = self._session.require_not_trashed()
        tx.set("title", line)
        unchanged = f"It is called “{line}” already."
        return tx.publish("rename", f"Renamed the conversation to “{line}”", unchanged=unchanged)

    def put_into(self, folder: str) -> Operation:
        """Put the conversation into a folder of the list; "" takes it out. Raises NothingToDo if it is there."""
        line, was = title_line(folder), self.view.folder
        tx = self._session.require_not_trashed()
        tx.set("folder", line or None)
        if not tx.changes:
            raise NothingToDo(f"It is in the folder “{line}” already." if line else "It is in no folder.")
        moved = f"Put the conversation into the folder “{line}”"
        return tx.publish("folder", moved if line else f"Took the conversation out of the folder “{was}”")

    def trash(self) -> Operation:
        """Move the conversation to the trash; `take_back` restores it."""
        history.settle(self._session)
        tx = self._session.require_not_trashed()
        tx.set("trashed", True)
        return tx.publish("trash", "Moved to the trash")

    def take_back(self) -> Operation:
        """Restore the conversation from the trash."""
        tx = self._session.change()
        tx.set("trashed", None)
        unchanged = "This conversation is not in the trash."
        return tx.publish("take back", "Taken back from the trash", unchanged=unchanged)

    def _check_model(self, name: str | None) -> None:
        """Check before anything is written: NotFound for an unavailable model, NotAllowed if an
        allowance is used up.
        """
        refuse_to_spend(self._session, name)
        self._session.models.model(name or self._session.models.default())
