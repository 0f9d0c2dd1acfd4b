"""`chat.requests`: merges that somebody proposes and somebody else decides.

A request proposes to merge a branch, several branches, or picked messages. It can be viewed, discussed, changed,
accepted or declined; each step is an operation with its author in the log. Accepting lands a merge plan and closes the
request in one operation, so that neither happens without the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Event
from types import MappingProxyType
from typing import Unpack

from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.branching import UNCHANGED, Unchanged
from forky_core.conversation.identity import now, title_line
from forky_core.conversation.merging import grafting, merging, model_reviews, reviews
from forky_core.conversation.merging.decisions import decisions_in, options_with, with_choices, with_words
from forky_core.conversation.merging.merge_request import (
    REQUESTS,
    Elsewhere,
    FurtherSource,
    MergeRequest,
    RequestComment,
    log_name,
    open_request,
    quoted,
    request_in,
    requests_in,
)
from forky_core.conversation.merging.merge_step import merge_step
from forky_core.conversation.merging.review_log import RequestHeads, Review, ReviewFinding, proposal_of
from forky_core.conversation.session import Session, branch_in
from forky_core.conversation.transaction import Transaction, with_a_free_key
from forky_core.conversation.validation import fit_text
from forky_core.merge.options import NO_CHOICES, MergeOptionFields, MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.strategies import find_strategy, only_used, strategies, strategy_named, validate_options
from forky_core.model import ConversationId, Operation, View
from forky_core.model.errors import BadContent, InTheWay, NothingToDo
from forky_core.model.graph import ancestors, parents_in

LONGEST_NOTE = 10_000
"""The most characters of a note or a comment."""


@dataclass(frozen=True, slots=True)
class _Offer:
    """The content of a proposal, without its target and note: given by its parts, or taken from a plan."""

    sources: tuple[str, ...]
    options: MergeOptions
    graft: ConversationId | None = None
    words: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Payloads that a person edited, by source."""

    @classmethod
    def of_plan(cls, plan: MergePlan) -> _Offer:
        """The proposal to do what a plan shows, including the person's decisions.

        Raises:
            NothingToDo: it was not made from options, for instance the resolution of a conflict.
        """
        if plan.options is None or (not plan.drafts and plan.fast_forward is None):
            raise NothingToDo("There is nothing here to propose.")
        decided = decisions_in(plan)
        # A payload that replaces a model's rejected answer is proposed as what it is.
        model = None if plan.badge else plan.options.model
        options = replace(
            plan.options, model=model, reread=False, choices=MappingProxyType(dict(decided.choices))
        )
        words = dict(decided.words)
        if plan.graft is None:
            return cls(plan.sources, options, None, words)
        words = {plan.graft.branch: words[plan.source_name]} if words else {}
        return cls((plan.graft.branch,), options, plan.graft.conversation, words)


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
            NothingToDo: a source is empty, or the target itself; or the target has all that is picked.
            InTheWay: the same is proposed already, or it would make a cycle.
        """
        sources = [source] if isinstance(source, BranchReader | str) else source
        away = [one for one in sources if isinstance(one, BranchReader) and one.id != self._session.id]
        if away and len(sources) > 1:
            raise BadContent("A branch of another conversation is merged alone.", "Propose it by itself.")
        home = away[0]._session if away else self._session
        options = options_with(MergeOptions(), home, chosen)
        names = tuple(one if isinstance(one, str) else one.branch_name for one in sources)
        offer = _Offer(names, options, away[0].id if away else None)
        return self._open(offer, into or self._chat.branch_name, note)

    def open_plan(self, plan: MergePlan, *, note: str = "") -> MergeRequest:
        """Propose a plan as it is, with its options and edited text. Errors as in `open`."""
        return self._open(_Offer.of_plan(plan), plan.target_name, note)

    def _open(self, offer: _Offer, into: str, note: str) -> MergeRequest:
        session, words = self._session, _words(note, "A note", empty=True)
        if not offer.sources:
            raise BadContent("A request names a branch.", "Choose one.")
        first, *others = dict.fromkeys(offer.sources)

        def put() -> MergeRequest:
            tx = session.require_not_trashed()
            known = requests_in(tx.view)
            number = max((one.number for one in known), default=0) + 1
            made = MergeRequest(
                number,
                first,
                into,
                session.actor,
                words,
                now(),
                None,
                others=tuple(FurtherSource(name, None) for name in others),
                graft=Elsewhere(offer.graft, "") if offer.graft is not None else None,
            )
            made = _seen_now(session, tx.view, _with(made, offer.options, offer.words))
            self._refuse_senseless(tx.view, made)
            if made.options.choices and made.options.model is None and made.graft is None:
                merging.plan(session, into, made.sources, made.options)
            same = next((one for one in known if one.state == "open" and _same(one, made)), None)
            if same is not None:
                raise InTheWay(
                    f"Request {same.number} proposes that already.", "Comment on it, or change it."
                )
            what = f"pick {len(made.picks)} of" if made.picks else "graft" if made.graft else "merge"
            _publish(tx, made, "request", f"Asked to {what} {quoted(made.named)} into “{into}”")
            return made

        return with_a_free_key(REQUESTS, put)

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
        planned = self._planned(request, self._changed_options(request, chosen), stop)
        return self._in_its_words(request, planned) if own_words else planned

    def _planned(self, request: MergeRequest, options: MergeOptions, stop: Event | None = None) -> MergePlan:
        """Plan what a request proposes on the current branches; choices that still apply are kept."""
        # Whoever accepts it has read it, so that its text is the same wherever it is planned.
        bare = replace(options, choices=NO_CHOICES, looked_at=True)
        if request.graft is None:
            made = merging.plan(self._session, request.into, request.sources, bare, stop)
        else:
            other = self._session.other_conversation(request.graft.conversation)
            made = grafting.plan(self._session, request.into, other, request.source, bare, stop)
        return with_choices(made, options.choices)

    def with_edits(self, number: int, plan: MergePlan) -> MergePlan:
        """The plan of a request with its author's edits of the payload; unchanged if there are none."""
        return self._in_its_words(self.get(number), plan)

    def _in_its_words(self, request: MergeRequest, made: MergePlan) -> MergePlan:
        """The plan of a request with the payloads as its author edited them, if it has the strategy that they were
        written for.
        """
        if not request.words or made.strategy != request.strategy:
            return made
        known = ancestors(request.source_heads, parents_in(self._home_of(request).messages))
        words = request.words
        if request.graft is not None:
            words = {made.source_name: words.get(request.source, "")}
        return with_words(made, words, known)

    def comment(self, number: int, text: str) -> Operation:
        """Add a comment to a request, under the name of the person who uses this handle."""
        words = _words(text, "A comment")
        tx = self._session.require_not_trashed()
        old = request_in(tx.view, number)
        new = replace(old, comments=(*old.comments, RequestComment(self._session.actor, words, now())))
        return _publish(tx, new, "comment", f"Commented on {log_name(old)}")

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

        The sources' current heads count as seen. New options discard edited payloads.

        Raises:
            InTheWay: it was answered already.
            NothingToDo: nothing would change.
            BadContent, NothingToDo: as in `open`.
        """
        offer = None if isinstance(plan, Unchanged) else _Offer.of_plan(plan)
        tx = self._session.require_not_trashed()
        old = open_request(tx.view, number)
        new = _seen_now(self._session, tx.view, old)
        if not isinstance(note, Unchanged):
            new = replace(new, note=_words(note, "A note", empty=True))
        if not isinstance(into, Unchanged):
            new = replace(new, into=into)
        options = offer.options if offer else self._changed_options(old, chosen) if chosen else new.options
        if options != new.options:
            new = _with(new, options, {})
        if offer:
            new = _with(new, new.options, offer.words)
        if (new.into, new.options) != (old.into, old.options):
            self._refuse_senseless(tx.view, new)
        if new == old:
            raise NothingToDo(f"{log_name(old)} says that already.")
        return _publish(tx, new, "request", f"Changed {log_name(old)}")

    def decline(self, number: int, why: str = "") -> Operation:
        """Close a request without merging. Raises InTheWay if it was answered already."""
        words = _words(why, "A reason", empty=True)
        tx = self._session.require_not_trashed()
        old = open_request(tx.view, number)
        said = (*old.comments, RequestComment(self._session.actor, words, now())) if words else old.comments
        new = replace(old, state="declined", answered_by=self._session.actor, comments=said)
        return _publish(tx, new, "decline", f"Declined {log_name(old)}")

    def approve(self, number: int, plan: MergePlan | None = None, text: str = "") -> Operation:
        """Approve a request as `plan` shows it (default: as it is proposed). It counts until anything of that changes.

        Raises:
            NotAllowed: the person who uses this handle proposed it.
            InTheWay: it was answered already.
            NothingToDo: there is nothing to bring.
        """
        return reviews.give(self._session, number, "approved", text, plan or self.plan(number))

    def ask_for_changes(self, number: int, text: str, findings: tuple[ReviewFinding, ...] = ()) -> Operation:
        """Say what has to change before a request lands. Raises InTheWay if it was answered already."""
        return reviews.give(self._session, number, "changes", text, findings=findings)

    @merge_step("plan")
    def review_by(self, number: int, model: str, *, stop: Event | None = None) -> Operation:
        """Have a model read the note of a request beside its branch: what the branch does not say, contradicts, or says
        and the note leaves out, each with words that were looked up. It is one request for each source, paid for by
        whoever asks. The model neither approves nor holds anything up.

        Raises:
            InTheWay: the request was answered already, or meanwhile; nothing was kept.
            BadContent: the model is an offline one, which only quotes.
            NothingToDo: the merge has no note.
            NotReviewed: what it answered says nothing about the note; nothing was kept.
            ModelError: it did not answer, or was stopped.
        """
        request, heads = open_request(self._chat.view, number), self.heads(number)
        home, plan = self._home_of(request), self.plan(number, stop=stop)
        text, findings = model_reviews.reviewed_by(self._session, home, plan, model, stop)
        made = Review(model, "read", text, now(), None, proposal_of(request), heads, findings)
        return reviews.give_of_model(self._session, number, made)

    def withdraw_review(self, number: int) -> Operation:
        """Take one's own review back. Raises NothingToDo if there is none."""
        return reviews.give(self._session, number, "withdrawn")

    def reviews(self, number: int) -> tuple[Review, ...]:
        """The last review of each person and model, oldest first. `outdated` says if one is of an earlier state."""
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
            NothingToDo: the target has everything already, or what is new has no answer yet.
        """
        request = open_request(self._session.view, number)
        if not _is_of(self._session, request, plan):
            raise BadContent(f"This plan is not of {log_name(request)}.", "Plan the request.")
        if not plan.lands:
            if plan.relation == "unanswered":
                raise NothingToDo(plan.nothing, "Have it answered, or decline the request.")
            raise NothingToDo(
                f"“{request.into}” has all of {quoted(request.named)} already.", "Decline the request."
            )
        return replace(plan, request=number)

    def _refuse_senseless(self, view: View, request: MergeRequest) -> None:
        """Refuse what nobody could accept; messages and errors as in `open`."""
        branch_in(view, request.into)
        offered = [
            one.name for one in strategies() if (one.takes_several if request.others else one.requested)
        ]
        if request.strategy not in offered:
            several = " of several branches" if request.others else ""
            raise BadContent(
                f"A request{several} cannot propose “{request.strategy}”.",
                f"There are: {', '.join(offered)}.",
            )
        if request.graft is None:
            for name in request.sources:
                if name == request.into or branch_in(view, name).head is None:
                    raise NothingToDo(
                        f"“{name}” cannot be merged into “{request.into}”.", "Choose another branch."
                    )
        if not strategy_named(request.strategy).takes_picks and request.graft is None:
            return
        if not self._planned(request, replace(request.options, model=None)).lands and request.picks:
            raise NothingToDo(f"“{request.into}” has all that is picked.", "Pick something else.")

    def _home_of(self, request: MergeRequest) -> Session:
        """The conversation of a request's sources."""
        graft = request.graft
        return self._session if graft is None else self._session.other_conversation(graft.conversation)

    def _changed_options(self, request: MergeRequest, chosen: MergeOptionFields) -> MergeOptions:
        """The request's options with these changes; options that do not apply to a new strategy are dropped unless
        named.
        """
        strategy = chosen.get("strategy", request.strategy)
        known = only_used(replace(request.options, strategy=strategy))
        return options_with(known, self._home_of(request), chosen)


def _publish(tx: Transaction, request: MergeRequest, verb: str, summary: str) -> Operation:
    tx.set(f"{REQUESTS}{request.number}", request.stored())
    return tx.publish(verb, summary)


def _with(request: MergeRequest, options: MergeOptions, words: Mapping[str, str]) -> MergeRequest:
    """The request with these options and payloads. Raises BadContent for what cannot be stored or is invalid."""
    validate_options(options)
    fit_text(options.focus, "A focus")
    kept = {source: fit_text(text, "A payload") for source, text in words.items() if text.strip()}
    # Whether cached readings are ignored is no part of a proposal.
    options = replace(options, picks=tuple(dict.fromkeys(options.picks)), reread=False)
    return replace(request, options=options, words=MappingProxyType(kept))


def _seen_now(session: Session, view: View, request: MergeRequest) -> MergeRequest:
    """The request with the sources' current heads. Raises NotFound if a source no longer exists."""
    graft = request.graft
    if graft is not None:
        view = session.other_conversation(graft.conversation).view
        graft = replace(graft, title=title_line(view.title))
    others = tuple(replace(one, source_head=branch_in(view, one.source).head) for one in request.others)
    return replace(request, source_head=branch_in(view, request.source).head, others=others, graft=graft)


def _same(one: MergeRequest, other: MergeRequest) -> bool:
    """Whether two requests propose the same messages for the same branch, by whatever strategy."""

    def what(request: MergeRequest) -> tuple[object, ...]:
        elsewhere = request.graft.conversation if request.graft is not None else None
        return request.into, elsewhere, set(request.sources), set(request.picks)

    return what(one) == what(other)


def _is_of(session: Session, request: MergeRequest, planned: MergePlan) -> bool:
    """Whether a plan merges what the request proposes, by whatever strategy.

    An octopus leaves out a source that brings nothing new, so its sources are found by planning the request again,
    without a model.
    """
    if planned.target_name != request.into:
        return False
    if planned.graft is not None or request.graft is not None:
        asked = (request.graft.conversation, request.source) if request.graft is not None else None
        return planned.graft is not None and (planned.graft.conversation, planned.graft.branch) == asked
    brings = planned.sources
    if not request.others:
        return brings == (request.source,)
    strategy = find_strategy(planned.strategy)
    if strategy is None or not strategy.takes_several:
        return False
    first = (name for name in brings if name in request.sources)
    order = tuple(dict.fromkeys((*first, *request.sources)))
    options = replace(planned.options or MergeOptions(planned.strategy), model=None)
    again = merging.plan(session, request.into, order, options)
    return not (planned.lands or again.lands) or brings == again.sources


def _words(text: str, what: str, *, empty: bool = False) -> str:
    words = fit_text(text, what).strip()
    if not words and not empty:
        raise BadContent(f"{what} needs some words.")
    if len(words) > LONGEST_NOTE:
        raise BadContent(f"{what} has at most {LONGEST_NOTE} characters.")
    return words
