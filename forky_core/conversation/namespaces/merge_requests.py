"""`chat.requests`: merges that somebody proposes and somebody else decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Event
from typing import Unpack

from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.branching import UNCHANGED, Unchanged
from forky_core.conversation.merging import requests, reviews
from forky_core.conversation.merging.decisions import options_with
from forky_core.conversation.merging.merge_request import MergeRequest, request_in, requests_in
from forky_core.conversation.merging.merging import merge_step
from forky_core.conversation.merging.review_log import RequestHeads, Review
from forky_core.merge.options import MergeOptionFields, MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.strategies import only_used
from forky_core.model import Operation
from forky_core.model.errors import BadContent


class MergeRequests:
    """The merge requests of a conversation. To accept one, merge what `accepting` makes of its plan."""

    def __init__(self, chat: BranchReader) -> None:
        self._chat = chat
        self._session = chat._session

    @property
    def all(self) -> tuple[MergeRequest, ...]:
        """Every merge request of this conversation, whatever its state, newest first."""
        return requests_in(self._chat.view)

    def get(self, number: int) -> MergeRequest:
        """The request with this number. Raises NotFound if there is none."""
        return request_in(self._chat.view, number)

    def open(
        self,
        source: BranchReader | str | Sequence[BranchReader | str],
        *,
        into: str | None = None,
        note: str = "",
        **chosen: Unpack[MergeOptionFields],
    ) -> MergeRequest:
        """Propose a branch for merging into this one (or `into`), for somebody to review.

        Several sources propose an octopus, as a squash, in full or three-way; a branch of another conversation a graft.
        Other options are those of `plan_merge`, and are stored. To accept, merge what `accepting` makes of `plan`.

        Raises:
            NotFound: one of the branches or picks does not exist.
            BadContent: an option that this strategy cannot take, or several branches with one of another conversation.
            NothingToDo: there is nothing to bring.
            InTheWay: the same is proposed already, or it would make a cycle.
        """
        sources = [source] if isinstance(source, BranchReader | str) else source
        away = [one for one in sources if isinstance(one, BranchReader) and one.id != self._session.id]
        if away and len(sources) > 1:
            raise BadContent("A branch of another conversation is merged alone.", "Propose it by itself.")
        home = away[0]._session if away else self._session
        options = options_with(MergeOptions(), home, chosen)
        names = tuple(one if isinstance(one, str) else one.branch_name for one in sources)
        offer = requests.Offer(names, options, away[0].id if away else None)
        return requests.make(self._session, offer, into or self._chat.branch_name, note)

    def open_plan(self, plan: MergePlan, *, note: str = "") -> MergeRequest:
        """Propose a plan as it is, with its options and edited text. Errors as in `open`."""
        return requests.make(self._session, requests.Offer.of_plan(plan), plan.target_name, note)

    @merge_step("plan")
    def plan(
        self,
        number: int,
        *,
        own_words: bool = True,
        stop: Event | None = None,
        **chosen: Unpack[MergeOptionFields],
    ) -> MergePlan:
        """Plan what a request proposes on the branches as they are now; options in `chosen` override the request's.

        The payload has its author's edits unless `own_words=False`; `with_edits` adds them later.

        Raises:
            NotFound: one of its branches, or the other conversation, no longer exists.
            ForkyError: whatever `plan_merge` raises.
        """
        request = self.get(number)
        planned = requests.plan(self._session, request, self._changed_options(request, chosen), stop=stop)
        return requests.in_its_words(self._session, request, planned) if own_words else planned

    def with_edits(self, number: int, plan: MergePlan) -> MergePlan:
        """The plan of a request with its author's edits of the payload; unchanged if there are none."""
        return requests.in_its_words(self._session, self.get(number), plan)

    def comment(self, number: int, text: str) -> Operation:
        """Add a comment to a request, under the name of the person who uses this handle."""
        return requests.comment(self._session, number, text)

    def change(
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
        request = self.get(number)
        if isinstance(plan, Unchanged):
            options = self._changed_options(request, chosen) if chosen else UNCHANGED
            return requests.change(self._session, number, note, into, options)
        offer = requests.Offer.of_plan(plan)
        return requests.change(self._session, number, note, into, offer.options, offer.words)

    def decline(self, number: int, why: str = "") -> Operation:
        """Close a request without merging. Raises InTheWay if it was answered already."""
        return requests.decline(self._session, number, why)

    def approve(self, number: int, plan: MergePlan | None = None, text: str = "") -> Operation:
        """Approve a request as `plan` shows it (default: as it is proposed). It counts until anything of that changes.

        Raises:
            NotAllowed: the person who uses this handle proposed it.
            InTheWay: it was answered already.
            NothingToDo: there is nothing to bring.
        """
        return reviews.give(self._session, number, "approved", text, plan or self.plan(number))

    def ask_for_changes(self, number: int, text: str) -> Operation:
        """Say what has to change before a request lands. Raises InTheWay if it was answered already."""
        return reviews.give(self._session, number, "changes", text)

    def withdraw_review(self, number: int) -> Operation:
        """Take one's own review back. Raises NothingToDo if there is none."""
        return reviews.give(self._session, number, "withdrawn")

    def reviews(self, number: int) -> tuple[Review, ...]:
        """The last review of each person, oldest first. `outdated` says if one is of an earlier state."""
        return self._session.reviews().reviews(number)

    def authors(self, number: int) -> frozenset[str]:
        """Who proposed a request, or changed what it proposes: none of them can approve it."""
        return self._session.reviews().authors(number)

    def heads(self, number: int) -> RequestHeads:
        """Where the branches of a request are now. Raises NotFound if there is no such request."""
        return reviews.heads_of(self._session, self._chat.view, self.get(number))

    def accepting(self, number: int, plan: MergePlan) -> MergePlan:
        """The plan that also accepts the request when `merge` lands it, in the same operation.

        Raises:
            InTheWay: the request was answered already.
            BadContent: the plan merges something else.
            NothingToDo: there is nothing to bring.
        """
        return requests.accepting(self._session, number, plan)

    def _changed_options(self, request: MergeRequest, chosen: MergeOptionFields) -> MergeOptions:
        """The request's options with these changes; options that do not apply to a new strategy are dropped unless
        named.
        """
        home = (
            self._session.other_conversation(request.graft.conversation)
            if request.graft is not None
            else self._session
        )
        strategy = chosen.get("strategy", request.strategy)
        return options_with(only_used(replace(request.options, strategy=strategy)), home, chosen)
