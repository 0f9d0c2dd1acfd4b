"""What people agree on in a conversation: conflicts that merges left open, one answer of several, merge requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Event
from typing import Unpack

from forky_core.conversation.branching import UNCHANGED, Unchanged
from forky_core.conversation.merging import fusing, replanning, requests, settling
from forky_core.conversation.merging.decisions import chosen_of
from forky_core.conversation.merging.failures import merge_step
from forky_core.conversation.merging.merge_request import MergeRequest, request_in, requests_in
from forky_core.conversation.reading import BranchReader
from forky_core.merge.claims.claim_set import ClaimSet
from forky_core.merge.claims.conflict_resolution import Choice, Clash
from forky_core.merge.fuse import FusePlan
from forky_core.merge.models.proposing import Proposal
from forky_core.merge.options import MergeOptionFields, MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.three_way import ThreeWayPlan
from forky_core.merge.validation import only_used
from forky_core.model import Operation
from forky_core.model.errors import BadContent


class Agreeing(BranchReader):
    """The verbs of claims, fusions and merge requests."""

    @merge_step("plan")
    def plan_fuse(
        self,
        candidates: Sequence[str] = (),
        *,
        model: str | None = None,
        seed: int | None = None,
        stop: Event | None = None,
    ) -> FusePlan:
        """What making one answer of several would write; without `candidates`, of all beside the head.

        `merge` lands it, `promote(plan.best_message)` takes the best one instead. Without a model nothing is rewritten.
        """
        ids = [self.message(one).id for one in candidates]
        return fusing.plan(self._repo, self.branch, ids, model=model, seed=seed, stop=stop)

    @merge_step("plan")
    def replan(self, plan: MergePlan, *, stop: Event | None = None) -> MergePlan:
        """The same merge on the branches as they are now, with the choices and words of the person kept.

        For one that lost a race: `Outdated` says what came first, and this goes on from there.
        """
        return replanning.replan(self._repo, plan, stop)

    @property
    def claims(self) -> ClaimSet:
        """What this branch claims, by rules and by what its merges froze."""
        return settling.claims(self._repo, self.branch)

    @property
    def unresolved(self) -> tuple[Clash, ...]:
        """Conflicts that landed open and nobody has settled since."""
        return settling.unresolved(self._repo, self.branch)

    @merge_step("plan")
    def plan_resolution(self, choices: Mapping[str, Choice | None]) -> MergePlan:
        """The message that settles conflicts of this branch, by key or hash; `merge` lands it."""
        return settling.plan_resolution(self._repo, self.branch, choices)

    def propose(
        self, plan: ThreeWayPlan, conflict: str, *, model: str | None = None, stop: Event | None = None
    ) -> Proposal:
        """What a model would write for a conflict of the plan; `plan.resolved({key: proposal.choice})` takes it."""
        return settling.propose(self._repo, plan, conflict, model, stop)

    @property
    def requests(self) -> tuple[MergeRequest, ...]:
        """Every merge request of this conversation, whatever its state, the newest first."""
        return requests_in(self.view)

    def request(self, number: int) -> MergeRequest:
        """NotFound where there is none of that number."""
        return request_in(self.view, number)

    def request_merge(
        self,
        source: BranchReader | str | Sequence[BranchReader | str],
        *,
        into: str | None = None,
        note: str = "",
        **chosen: Unpack[MergeOptionFields],
    ) -> MergeRequest:
        """Propose a branch for merging into this one (or `into`); somebody looks at it and answers.

        Several sources propose an octopus, as a squash, in full or three-way; a branch of another conversation a graft.
        What else is chosen is as for `plan_merge`, and kept. To accept, land what `accepting` makes of `plan_request`.

        Raises:
            NotFound: one of the branches or picks is not there.
            BadContent: what this strategy cannot take, or several branches with one of another conversation.
            NothingToDo: there is nothing to bring.
            InTheWay: the same is proposed already, or it would make a circle.
        """
        sources = [source] if isinstance(source, BranchReader | str) else source
        away = [one for one in sources if isinstance(one, BranchReader) and one.id != self.id]
        if away and len(sources) > 1:
            raise BadContent("A branch of another conversation is merged alone.", "Propose it by itself.")
        home = away[0] if away else self
        wish = chosen_of(MergeOptions(), home._repo, chosen)
        names = tuple(one if isinstance(one, str) else one.branch_name for one in sources)
        offer = requests.Offer(names, wish, away[0].id if away else None)
        return requests.make(self._repo, offer, into or self.branch_name, note)

    def request_plan(self, plan: MergePlan, *, note: str = "") -> MergeRequest:
        """Propose what a plan shows, with what was chosen and written in it. Errors as `request_merge`."""
        return requests.make(self._repo, requests.Offer.of_plan(plan), plan.target_name, note)

    @merge_step("plan")
    def plan_request(
        self,
        number: int,
        *,
        own_words: bool = True,
        stop: Event | None = None,
        **chosen: Unpack[MergeOptionFields],
    ) -> MergePlan:
        """What a request proposes, on the branches as they are now; in another way where something else is `chosen`.

        Where its author changed the words of the payload they are in it, but for `own_words=False`: `in_words_of` puts
        them there.

        Raises:
            NotFound: one of its branches, or the other conversation, is gone.
            ForkyError: whatever `plan_merge` raises.
        """
        request = self.request(number)
        planned = requests.plan(self._repo, request, self._changed_wish(request, chosen), stop=stop)
        return requests.in_its_words(self._repo, request, planned) if own_words else planned

    def in_words_of(self, number: int, plan: MergePlan) -> MergePlan:
        """A plan of a request in the words of its author; as it is where there are none."""
        return requests.in_its_words(self._repo, self.request(number), plan)

    def _changed_wish(self, request: MergeRequest, chosen: MergeOptionFields) -> MergeOptions:
        """The request's own with these changes; what another strategy would pass over goes, unless it is named."""
        home = self._repo.beside(request.graft.conversation) if request.graft is not None else self._repo
        strategy = chosen.get("strategy", request.strategy)
        return chosen_of(only_used(replace(request.wish, strategy=strategy)), home, chosen)

    def comment_request(self, number: int, text: str) -> Operation:
        return requests.comment(self._repo, number, text)

    def change_request(
        self,
        number: int,
        *,
        note: str | Unchanged = UNCHANGED,
        into: str | Unchanged = UNCHANGED,
        plan: MergePlan | Unchanged = UNCHANGED,
        **chosen: Unpack[MergeOptionFields],
    ) -> Operation:
        """Change what is proposed: what is `chosen`, or all that a `plan` of the same sources shows.

        InTheWay where it was answered already.
        """
        request = self.request(number)
        if isinstance(plan, Unchanged):
            wish = self._changed_wish(request, chosen) if chosen else UNCHANGED
            return requests.change(self._repo, number, note, into, wish)
        offer = requests.Offer.of_plan(plan)
        return requests.change(self._repo, number, note, into, offer.wish, offer.words)

    def decline_request(self, number: int, why: str = "") -> Operation:
        """Close a request without merging. InTheWay where it was answered already."""
        return requests.decline(self._repo, number, why)

    def accepting(self, number: int, plan: MergePlan) -> MergePlan:
        """The plan that accepts the request when `merge` lands it: both or neither.

        Raises:
            InTheWay: the request was answered already.
            BadContent: the plan merges something else.
            NothingToDo: there is nothing to bring.
        """
        return requests.accepting(self._repo, number, plan)
