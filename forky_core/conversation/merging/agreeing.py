"""Reaching agreement in a conversation: open conflicts of merges, fusing several answers, merge requests."""

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
        """What fusing several answers into one would write; `candidates` defaults to the head and its siblings.

        `merge` lands it, `promote(plan.best_message)` takes the best one instead. Without a model nothing is rewritten.
        """
        ids = [self.message(one).id for one in candidates]
        return fusing.plan(self._repo, self.branch, ids, model=model, seed=seed, stop=stop)

    @merge_step("plan")
    def replan(self, plan: MergePlan, *, stop: Event | None = None) -> MergePlan:
        """Plan the same merge on the branches as they are now, with the person's choices and edited text.

        Use it after a lost race: `Outdated` says what came first, and this plan includes it.
        """
        return replanning.replan(self._repo, plan, stop)

    @property
    def claims(self) -> ClaimSet:
        """The claims of this branch, extracted by rules and stored by its merges."""
        return settling.claims(self._repo, self.branch)

    @property
    def unresolved(self) -> tuple[Clash, ...]:
        """Conflicts that landed open and have not been settled since."""
        return settling.unresolved(self._repo, self.branch)

    @merge_step("plan")
    def plan_resolution(self, choices: Mapping[str, Choice | None]) -> MergePlan:
        """The message that settles conflicts of this branch, by key or hash; `merge` lands it."""
        return settling.plan_resolution(self._repo, self.branch, choices)

    def propose(
        self, plan: ThreeWayPlan, conflict: str, *, model: str | None = None, stop: Event | None = None
    ) -> Proposal:
        """What a model proposes for a conflict of the plan; `plan.resolved({key: proposal.choice})` accepts it."""
        return settling.propose(self._repo, plan, conflict, model, stop)

    @property
    def requests(self) -> tuple[MergeRequest, ...]:
        """Every merge request of this conversation, whatever its state, newest first."""
        return requests_in(self.view)

    def request(self, number: int) -> MergeRequest:
        """The request with this number. Raises NotFound if there is none."""
        return request_in(self.view, number)

    def request_merge(
        self,
        source: BranchReader | str | Sequence[BranchReader | str],
        *,
        into: str | None = None,
        note: str = "",
        **chosen: Unpack[MergeOptionFields],
    ) -> MergeRequest:
        """Propose a branch for merging into this one (or `into`), for somebody to review.

        Several sources propose an octopus, as a squash, in full or three-way; a branch of another conversation a graft.
        Other options are those of `plan_merge`, and are stored. To accept, land what `accepting` makes of
        `plan_request`.

        Raises:
            NotFound: one of the branches or picks does not exist.
            BadContent: an option that this strategy cannot take, or several branches with one of another conversation.
            NothingToDo: there is nothing to bring.
            InTheWay: the same is proposed already, or it would make a cycle.
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
        """Propose a plan as it is, with its options and edited text. Errors as in `request_merge`."""
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
        """Plan what a request proposes on the branches as they are now; options in `chosen` override the request's.

        The payload has its author's edits unless `own_words=False`; `in_words_of` adds them later.

        Raises:
            NotFound: one of its branches, or the other conversation, no longer exists.
            ForkyError: whatever `plan_merge` raises.
        """
        request = self.request(number)
        planned = requests.plan(self._repo, request, self._changed_wish(request, chosen), stop=stop)
        return requests.in_its_words(self._repo, request, planned) if own_words else planned

    def in_words_of(self, number: int, plan: MergePlan) -> MergePlan:
        """The plan of a request with its author's edits of the payload; unchanged if there are none."""
        return requests.in_its_words(self._repo, self.request(number), plan)

    def _changed_wish(self, request: MergeRequest, chosen: MergeOptionFields) -> MergeOptions:
        """The request's options with these changes; options that do not apply to a new strategy are dropped unless
        named.
        """
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
        """Change what is proposed: the `chosen` options, or everything that a `plan` of the same sources shows.

        Raises InTheWay if it was answered already.
        """
        request = self.request(number)
        if isinstance(plan, Unchanged):
            wish = self._changed_wish(request, chosen) if chosen else UNCHANGED
            return requests.change(self._repo, number, note, into, wish)
        offer = requests.Offer.of_plan(plan)
        return requests.change(self._repo, number, note, into, offer.wish, offer.words)

    def decline_request(self, number: int, why: str = "") -> Operation:
        """Close a request without merging. Raises InTheWay if it was answered already."""
        return requests.decline(self._repo, number, why)

    def accepting(self, number: int, plan: MergePlan) -> MergePlan:
        """The plan that also accepts the request when `merge` lands it, in the same operation.

        Raises:
            InTheWay: the request was answered already.
            BadContent: the plan merges something else.
            NothingToDo: there is nothing to bring.
        """
        return requests.accepting(self._repo, number, plan)
