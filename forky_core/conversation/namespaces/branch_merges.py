"""`chat.merges`: grafts, fusions, rebases and open conflicts; `chat.plan_merge` and `chat.merge` are the usual way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Event
from typing import Unpack

from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.merging import (
    examining,
    fusing,
    grafting,
    rebasing,
    replanning,
    replaying,
    settling,
)
from forky_core.conversation.merging.decisions import options_with
from forky_core.conversation.merging.merging import merge_step
from forky_core.conversation.merging.replaying import RebaseReplay
from forky_core.conversation.merging.so_far import so_far
from forky_core.merge.conflicts.conflict import Choice, ComparedSide, Conflict, of_answers
from forky_core.merge.conflicts.examination import Examination
from forky_core.merge.fuse import FusePlan
from forky_core.merge.options import MergeOptionFields, MergeOptions
from forky_core.merge.picked_parts import PickedPart
from forky_core.merge.plan import MergePlan
from forky_core.merge.rebase import RebasePlan
from forky_core.model import Operation
from forky_core.model.parts import MergePart


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

        Use it after a lost race: `Outdated` says what came first, and this plan includes it.
        """
        return replanning.replan(self._session, plan, stop)

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
        return rebasing.land(self._session, plan)

    def replay(self, plan: RebasePlan, *, model: str | None = None) -> RebaseReplay:
        """Rebase by asking the branch's questions again, in the background; `summary` reports the progress.

        Raises:
            Outdated: the branch has moved since the plan was made; nothing was written.
            NothingToDo: it has no answered question of its own.
        """
        return replaying.replay(self._session, plan, model)

    def so_far(self) -> MergePart | None:
        """A summary of this branch: the note that a squash of all of it would make; None if nothing was said.

        Rules write it. Nothing is stored.
        """
        return so_far(self._session, self._chat.branch_name)

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
        sides = texts.compared if isinstance(texts, MergePlan) else self._sides(texts)
        return examining.examine(self._session, sides, self._chat.branch.rules, model=model, stop=stop)

    def examined(self, answers: Sequence[str]) -> Examination | None:
        """What a model has found in these answers; None if none has examined them as they are."""
        return examining.examination_of(self._session, self._sides(answers))

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
