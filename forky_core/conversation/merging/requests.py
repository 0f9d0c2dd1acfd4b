"""Merge requests: proposals to merge a branch, several branches, or picked messages.

They can be viewed, discussed, changed, accepted or declined. Each step is an operation with its author in the log.
Accepting lands a merge plan and closes the request in one operation, so that neither happens without the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Event
from types import MappingProxyType

from forky_core.conversation.branching import UNCHANGED, Unchanged
from forky_core.conversation.identity import now, title_line
from forky_core.conversation.merging import grafting, merging
from forky_core.conversation.merging.decisions import decisions_in, with_choices, with_words
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
from forky_core.conversation.session import Session, branch_in
from forky_core.conversation.transaction import Transaction, with_a_free_key
from forky_core.conversation.validation import fit_text
from forky_core.merge.options import NO_CHOICES, MergeOptions
from forky_core.merge.plan import MergePlan
from forky_core.merge.strategies import find_strategy, strategies, strategy_named, validate_options
from forky_core.model import ConversationId, Operation, View
from forky_core.model.errors import BadContent, InTheWay, NothingToDo
from forky_core.model.graph import ancestors, parents_in

LONGEST_NOTE = 10_000
"""The most characters of a note or a comment."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The content of a proposal, without its target and note: given by its parts, or taken from a plan."""

    sources: tuple[str, ...]
    options: MergeOptions
    graft: ConversationId | None = None
    words: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Payloads that a person edited, by source."""

    @classmethod
    def of_plan(cls, plan: MergePlan) -> Offer:
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


def make(session: Session, offer: Offer, into: str, note: str) -> MergeRequest:
    """Propose a branch for merging, several of them, picks of one, or a branch of another conversation.

    Raises:
        NotFound: one of the branches does not exist.
        BadContent: several branches, or picks, by a strategy that cannot take them; or none at all.
        NothingToDo: a source is empty, or the target itself; or the target has all that is picked.
        InTheWay: the same is proposed already; or a graft would make a cycle.
    """
    words = _words(note, "A note", empty=True)
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
        _refuse_senseless(session, tx.view, made)
        if made.options.choices and made.options.model is None and made.graft is None:
            merging.plan(session, into, made.sources, made.options)
        same = next((one for one in known if one.state == "open" and _same(one, made)), None)
        if same is not None:
            raise InTheWay(f"Request {same.number} proposes that already.", "Comment on it, or change it.")
        what = f"pick {len(made.picks)} of" if made.picks else "graft" if made.graft else "merge"
        _publish(tx, made, "request", f"Asked to {what} {quoted(made.named)} into “{into}”")
        return made

    return with_a_free_key(REQUESTS, put)


def comment(session: Session, number: int, text: str) -> Operation:
    """Comment on a request, whatever its state."""
    words = _words(text, "A comment")
    tx = session.require_not_trashed()
    old = request_in(tx.view, number)
    new = replace(old, comments=(*old.comments, RequestComment(session.actor, words, now())))
    return _publish(tx, new, "comment", f"Commented on {log_name(old)}")


def change(
    session: Session,
    number: int,
    note: str | Unchanged = UNCHANGED,
    into: str | Unchanged = UNCHANGED,
    options: MergeOptions | Unchanged = UNCHANGED,
    words: Mapping[str, str] | Unchanged = UNCHANGED,
) -> Operation:
    """Change a proposal; the sources' current heads count as seen. New options discard edited payloads.

    Raises:
        InTheWay: it was answered already.
        NothingToDo: nothing would change.
        BadContent, NothingToDo: as `make`.
    """
    tx = session.require_not_trashed()
    old = open_request(tx.view, number)
    new = _seen_now(session, tx.view, old)
    if not isinstance(note, Unchanged):
        new = replace(new, note=_words(note, "A note", empty=True))
    if not isinstance(into, Unchanged):
        new = replace(new, into=into)
    if not isinstance(options, Unchanged) and options != new.options:
        new = _with(new, options, {})
    if not isinstance(words, Unchanged):
        new = _with(new, new.options, words)
    if (new.into, new.options) != (old.into, old.options):
        _refuse_senseless(session, tx.view, new)
    if new == old:
        raise NothingToDo(f"{log_name(old)} says that already.")
    return _publish(tx, new, "request", f"Changed {log_name(old)}")


def plan(
    session: Session,
    request: MergeRequest,
    options: MergeOptions | None = None,
    *,
    stop: Event | None = None,
) -> MergePlan:
    """Plan what a request proposes on the current branches; with other options, choices that still apply are kept.

    Raises:
        NotFound: one of its branches, or the other conversation, no longer exists.
        Else as a merge or a graft.
    """
    options = request.options if options is None else options
    # Whoever accepts it has read it, so that its text is the same wherever it is planned.
    bare = replace(options, choices=NO_CHOICES, looked_at=True)
    if request.graft is None:
        made = merging.plan(session, request.into, request.sources, bare, stop)
    else:
        other = session.other_conversation(request.graft.conversation)
        made = grafting.plan(session, request.into, other, request.source, bare, stop)
    return with_choices(made, options.choices)


def in_its_words(session: Session, request: MergeRequest, made: MergePlan) -> MergePlan:
    """The plan of a request with the payloads as its author edited them, if it has the strategy that they were written
    for.
    """
    if not request.words or made.strategy != request.strategy:
        return made
    messages = (
        session.other_conversation(request.graft.conversation) if request.graft is not None else session
    ).messages
    known = ancestors(request.source_heads, parents_in(messages))
    words = request.words
    if request.graft is not None:
        words = {made.source_name: words.get(request.source, "")}
    return with_words(made, words, known)


def decline(session: Session, number: int, why: str = "") -> Operation:
    """Close a request without merging; both branches are unchanged.

    Raises:
        InTheWay: it was answered already.
    """
    words = _words(why, "A reason", empty=True)
    tx = session.require_not_trashed()
    old = open_request(tx.view, number)
    said = (*old.comments, RequestComment(session.actor, words, now())) if words else old.comments
    new = replace(old, state="declined", answered_by=session.actor, comments=said)
    return _publish(tx, new, "decline", f"Declined {log_name(old)}")


def accepting(session: Session, number: int, planned: MergePlan) -> MergePlan:
    """The plan that also closes the request as accepted when it lands.

    Raises:
        InTheWay: the request was answered already.
        BadContent: the plan merges something else.
        NothingToDo: the target has everything already, or what is new has no answer yet.
    """
    request = open_request(session.view, number)
    if not _is_of(session, request, planned):
        raise BadContent(f"This plan is not of {log_name(request)}.", "Plan the request.")
    if not planned.lands:
        if planned.relation == "unanswered":
            raise NothingToDo(planned.nothing, "Have it answered, or decline the request.")
        raise NothingToDo(
            f"“{request.into}” has all of {quoted(request.named)} already.", "Decline the request."
        )
    return replace(planned, request=number)


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


def _refuse_senseless(session: Session, view: View, request: MergeRequest) -> None:
    """Refuse what nobody could accept; messages and errors as in `make`."""
    branch_in(view, request.into)
    offered = [one.name for one in strategies() if (one.takes_several if request.others else one.requested)]
    if request.strategy not in offered:
        several = " of several branches" if request.others else ""
        raise BadContent(
            f"A request{several} cannot propose “{request.strategy}”.", f"There are: {', '.join(offered)}."
        )
    if request.graft is None:
        for name in request.sources:
            if name == request.into or branch_in(view, name).head is None:
                raise NothingToDo(
                    f"“{name}” cannot be merged into “{request.into}”.", "Choose another branch."
                )
    if not strategy_named(request.strategy).takes_picks and request.graft is None:
        return
    if not plan(session, request, replace(request.options, model=None)).lands and request.picks:
        raise NothingToDo(f"“{request.into}” has all that is picked.", "Pick something else.")


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
