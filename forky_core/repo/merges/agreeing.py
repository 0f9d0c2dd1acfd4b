"""What people agree on in a conversation: conflicts that merges left open, one answer of several, merge requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Event

from forky_core.errors import BadContent
from forky_core.merge.claims import ClaimSet
from forky_core.merge.fuse import FusePlan
from forky_core.merge.plan import MergePlan
from forky_core.merge.proposing import Proposal
from forky_core.merge.settling import Choice, Clash
from forky_core.merge.three_way import ThreeWayPlan
from forky_core.model import Operation
from forky_core.parts import Strategy
from forky_core.repo.branching import UNCHANGED, Unchanged
from forky_core.repo.merges import fusing, replanning, requests, settling
from forky_core.repo.merges.merge_request import MergeRequest, request_in, requests_in
from forky_core.repo.reading import Reading


class Agreeing(Reading):
    """The verbs of claims, fusions and merge requests."""

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
        source: Reading | str | Sequence[Reading | str],
        *,
        into: str | None = None,
        note: str = "",
        strategy: Strategy = "squash",
        picks: Sequence[str] = (),
    ) -> MergeRequest:
        """Propose a branch for merging into this one (or `into`); somebody looks at it and answers.

        Several sources propose an octopus, as a squash or in full; `picks` are the messages of a cherry-pick. To
        accept, plan the request's `sources` and `picks`, and land what `accepting` makes of the plan.

        Raises:
            NotFound: one of the branches or picks is not there.
            BadContent: a branch of another conversation, or what this strategy cannot take.
            NothingToDo: there is nothing to bring.
            InTheWay: the same is proposed already.
        """
        sources = [source] if isinstance(source, Reading | str) else source
        if any(one.id != self.id for one in sources if isinstance(one, Reading)):
            raise BadContent(
                "A branch of another conversation cannot be proposed.", "Graft it: that can be undone."
            )
        names = [one if isinstance(one, str) else one.branch_name for one in sources]
        picked = [self.message(pick).id for pick in picks]
        return requests.make(self._repo, names, into or self.branch_name, note, strategy, picked)

    def comment_request(self, number: int, text: str) -> Operation:
        return requests.comment(self._repo, number, text)

    def change_request(
        self,
        number: int,
        *,
        note: str | Unchanged = UNCHANGED,
        into: str | Unchanged = UNCHANGED,
        strategy: Strategy | Unchanged = UNCHANGED,
        picks: Sequence[str] | Unchanged = UNCHANGED,
    ) -> Operation:
        """Change what is proposed. InTheWay where it was answered already."""
        picked = picks if isinstance(picks, Unchanged) else [self.message(pick).id for pick in picks]
        return requests.change(self._repo, number, note, into, strategy, picked)

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
