"""`chat.merges`: grafts, fusions, rebases and open conflicts; `chat.plan_merge` and `chat.merge` are the usual way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Event
from typing import Unpack

from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.branching import refuse_while_replying
from forky_core.conversation.identity import now
from forky_core.conversation.merging import fusing, grafting, merging, rebasing, settling
from forky_core.conversation.merging.decisions import decisions_in, options_with, with_choices, with_words
from forky_core.conversation.merging.examining import examination_of, examiner
from forky_core.conversation.merging.merge_step import merge_step
from forky_core.conversation.merging.merging import inputs_of
from forky_core.conversation.merging.rebasing import RebaseReplay
from forky_core.conversation.replies.asking import refuse_if_erased, refuse_if_moved
from forky_core.conversation.replies.once import ask_once
from forky_core.merge.conflicts.conflict import Choice, ComparedSide, Conflict, of_answers
from forky_core.merge.conflicts.examination import (
    Examination,
    examination_key,
    examination_request,
    read_examination,
)
from forky_core.merge.fuse import FusePlan
from forky_core.merge.options import NO_CHOICES, MergeOptionFields, MergeOptions
from forky_core.merge.picked_parts import PickedPart
from forky_core.merge.plan import MergePlan
from forky_core.merge.rebase import RebasePlan
from forky_core.merge.squash import squash_of
from forky_core.model import Branch, Operation, Rules, seal
from forky_core.model.errors import NothingToDo
from forky_core.model.parts import MergePart
from forky_core.model.payload_kinds import SQUASH


class BranchMerges:
    """Further plans of merges into a branch, its rebases, and the conflicts that merges left open."""

    def __init__(self, chat: BranchReader) -> None:
        self._chat = chat
        self._session = chat._session

    @merge_step("plan")
    def plan_graft(
        self, source: BranchReader, *, stop: Event | None = None, **chosen: Unpack[MergeOptionFields]
    ) -> MergePlan:
        """What merging a branch of another conversation would write; `merge` lands it. Options as in `plan_merge`.

        Its messages are copied unchanged, so that their ids stay valid. Picks are messages of that conversation.

        Raises:
            InTheWay: that conversation contains a graft of this one, so this graft would make a cycle.
        """
        options = options_with(MergeOptions(force=True), source._session, chosen)
        return grafting.plan(
            self._session, self._chat.branch_name, source._session, source.branch_name, options, stop
        )

    @merge_step("plan")
    def plan_fuse(
        self,
        candidates: Sequence[str] = (),
        *,
        parts: Sequence[PickedPart] = (),
        model: str | None = None,
        seed: int | None = None,
        stop: Event | None = None,
    ) -> FusePlan:
        """What fusing several answers into one would write; `candidates` defaults to the head and its siblings.

        With `parts` it is those parts alone, each with the id of its answer. `plan.conflicts` are
        what the answers disagree on (possibly, until `examine` has asked a model), and `plan.resolved` settles it.
        `chat.merge` lands the plan, `chat.branches.promote(plan.best_message)` takes the best answer instead. Without a
        model nothing is rewritten.
        """
        ids = [self._chat.message(one).id for one in candidates]
        return fusing.plan(
            self._session, self._chat.branch, ids, model=model, seed=seed, stop=stop, parts=parts
        )

    @merge_step("plan")
    def replan(self, plan: MergePlan, *, stop: Event | None = None) -> MergePlan:
        """Plan the same merge on the branches as they are now, with the person's choices and edited text.

        Use it after a lost race: `Outdated` says what came first, and this plan includes it. A choice is kept if the
        conflicting values are unchanged. Edited text is kept; if there are new messages, a warning says so. If the same
        merge landed meanwhile, text that a person or a model wrote is not lost: it is planned as another merge, with a
        warning.
        """
        if plan.options is None:
            raise NothingToDo("This plan was not made from options.", "Plan it anew.")
        decided = decisions_in(plan)
        made = self._planned_anew(plan, plan.options, stop)
        sides = plan.sides or (plan,)
        if not made.lands and any(side.by_hand or (side.block and side.block.made_by) for side in sides):
            made = self._planned_anew(plan, replace(plan.options, again=True), stop)
            note = f"“{plan.target_name}” has all of “{plan.source_name}” meanwhile: this would say it once more."
            made = replace(made, warnings=(note, *made.warnings))
        made = with_choices(made, decided.choices)
        made = with_words(made, decided.words, frozenset(plan.turns))
        return replace(made, request=plan.request)

    def _planned_anew(self, plan: MergePlan, options: MergeOptions, stop: Event | None) -> MergePlan:
        # The choices are in the plan; among the options they would be refused if their conflict no longer exists.
        options = replace(options, choices=NO_CHOICES, planned_at=options.planned_at or plan.target)
        if plan.graft is not None:
            other = self._session.other_conversation(plan.graft.conversation)
            return grafting.plan(self._session, plan.target_name, other, plan.graft.branch, options, stop)
        return merging.plan(self._session, plan.target_name, plan.sources, options, stop)

    @merge_step("plan")
    def plan_rebase(self, onto: BranchReader | str) -> RebasePlan:
        """What moving this branch's own messages onto another branch, or onto a message, would do. Writes nothing.

        `rebase` copies the messages unchanged; `replay` asks their questions again.
        """
        name = onto if isinstance(onto, str) else onto.branch_name
        return rebasing.plan(self._session, self._chat.branch_name, name)

    @merge_step("land")
    def rebase(self, plan: RebasePlan) -> Operation:
        """Land a plan: the copies refer to their originals, and the former head stays visible.

        Raises:
            Outdated: one of the branches has moved since the plan was made; nothing was written.
            NothingToDo: the branch is there already.
        """
        if not plan.lands:
            raise NothingToDo(f"“{plan.branch}” stands on “{plan.onto_name}” already.")
        session = self._session
        refuse_while_replying(session, plan.branch)
        tx = session.require_not_trashed()
        refuse_if_erased(tx.view, plan.made)
        refuse_if_moved(session, tx, plan.branch, plan.head)
        if f"heads/{plan.onto_name}" in tx.view.entries:
            refuse_if_moved(session, tx, plan.onto_name, plan.onto)
        if plan.relation == "fast_forward":
            tx.move(plan.branch, plan.onto)
            return tx.publish("rebase", f"Moved “{plan.branch}” on to “{plan.onto_name}”")
        tx.messages += [seal(one.draft, one.parents, created=now()) for one in plan.copies]
        tx.move(plan.branch, tx.messages[-1].id if tx.messages else plan.onto)
        tx.keep(plan.head)
        if plan.rules != tx.view.branch(plan.branch).rules:
            tx.set_rules(plan.branch, plan.rules)
        return tx.publish("rebase", f"Rebased “{plan.branch}” onto “{plan.onto_name}”")

    def replay(self, plan: RebasePlan, *, model: str | None = None) -> RebaseReplay:
        """Rebase by asking the branch's questions again, in the background; `summary` reports the progress.

        Raises:
            Outdated: the branch has moved since the plan was made; nothing was written.
            NothingToDo: it has no answered question of its own.
            NotFound: the model is gone.
        """
        if not plan.turns:
            raise NothingToDo(f"“{plan.branch}” has no answered question of its own to ask again.")
        session = self._session
        session.models.model(model or session.branch(plan.branch).rules.model or session.models.default())
        refuse_while_replying(session, plan.branch)
        job = RebaseReplay(session, plan, model)
        session.replays.add(job)
        try:
            job.begin()
        except BaseException:
            session.replays.discard(job)
            raise
        return job

    def so_far(self) -> MergePart | None:
        """A summary of this branch for somebody who joins late: the note that a squash of all of it would make; None if
        nothing was said.

        Rules write it, so that it costs nothing; each line cites the messages that it is from. Nothing is stored.
        """
        branch = self._chat.branch
        if branch.head is None:
            return None
        inputs = inputs_of(self._session, Branch("", None, Rules()), branch)
        found = inputs.incoming()
        if not found.turns:
            return None
        plan = squash_of(inputs, found, MergeOptions(SQUASH.name))
        parts = (part for draft in plan.drafts for part in draft.draft.parts)
        return next((part for part in parts if isinstance(part, MergePart)), None)

    @merge_step("plan")
    def examine(
        self, texts: MergePlan | Sequence[str], *, model: str | None = None, stop: Event | None = None
    ) -> Examination:
        """Have a model set the branches of a plan, or answers to one question, side by side: where they disagree, where
        they agree, and what only one says, word for word.

        It is one request, paid for by whoever asks, to `model`, or else to the model that reads merges (Settings), or
        the default. What it finds is kept: plans of the same texts have its conflicts from then on, so plan again
        afterwards. Until a model has examined them, rules name *possible* conflicts, and find few of those there are.

        Raises:
            NotExamined: its answer says nothing about the texts; nothing was kept.
            ModelError: it did not answer, or was stopped.
            NothingToDo: there are not two texts.
        """
        session = self._session
        sides = texts.compared if isinstance(texts, MergePlan) else self._sides(texts)
        if sum(bool(side.said) for side in sides) < 2:
            raise NothingToDo(
                "There are not two texts to compare.", "Nothing was said on one of the sides since."
            )
        name = model or examiner(session.store, session.models, self._chat.branch.rules)
        if name is None:
            raise NothingToDo(
                "No model is set up that could examine them.", "Name one, or choose one in Settings."
            )
        answer = ask_once(session, name, examination_request(sides), stop=stop)
        found = read_examination(answer, sides, name)
        session.store.keep_derived(session.id, {examination_key(sides): found.to_json()})
        return found

    def examined(self, answers: Sequence[str]) -> Examination | None:
        """What a model has found in these answers; None if none has examined them as they are."""
        return examination_of(self._session, self._sides(answers))

    def _sides(self, answers: Sequence[str]) -> tuple[ComparedSide, ...]:
        found = [self._chat.message(one) for one in answers]
        return of_answers((answer.id, answer) for answer in dict.fromkeys(found))

    @property
    def unresolved(self) -> tuple[Conflict, ...]:
        """Conflicts that landed open and have not been settled since."""
        return settling.unresolved(self._session, self._chat.branch)

    @merge_step("plan")
    def plan_resolution(self, choices: Mapping[str, Choice | None]) -> MergePlan:
        """The message that settles conflicts of this branch, by subject or hash; `chat.merge` lands it."""
        return settling.plan_resolution(self._session, self._chat.branch, choices)
