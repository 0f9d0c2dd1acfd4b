"""Merge requests: somebody proposes a branch for merging, several, or picks of one.

They are looked at, talked about, changed, accepted or declined. Each step is an operation with its author in the log.
Accepting lands a merge plan and closes the request in one operation: there is no moment at which one is done and the
other is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from forky_core.errors import BadContent, InTheWay, NothingToDo
from forky_core.merge.plan import MergePlan
from forky_core.merge.wish import Wish, refuse_unheard
from forky_core.model import MessageId, Operation, View
from forky_core.parts import Strategy
from forky_core.repo.branching import UNCHANGED, Unchanged
from forky_core.repo.identity import now
from forky_core.repo.merges import merging
from forky_core.repo.merges.merge_request import (
    REQUESTS,
    Beside,
    Comment,
    MergeRequest,
    called,
    open_request,
    quoted,
    request_in,
    requests_in,
)
from forky_core.repo.repo import Repo, branch_in
from forky_core.repo.taking_in import fit_text
from forky_core.repo.transaction import Transaction, with_a_free_key

LONGEST_NOTE = 10_000
"""Characters of a note or a comment."""
OFFERED: tuple[Strategy, ...] = ("full", "squash", "three-way", "cherry-pick")
"""What a request of one branch may propose."""
OFFERED_OF_SEVERAL: tuple[Strategy, ...] = ("full", "squash")
"""What a request of several branches may propose."""


def make(
    repo: Repo,
    sources: Sequence[str],
    into: str,
    note: str,
    strategy: Strategy,
    picks: Sequence[MessageId] = (),
) -> MergeRequest:
    """Propose a branch for merging, several of them, or picks of one.

    Raises:
        NotFound: one of the branches is not there.
        BadContent: several branches, or picks, by a strategy that cannot take them; or none at all.
        NothingToDo: a source is empty, or the target itself; or the target has all that is picked.
        InTheWay: the same is proposed already.
    """
    words = _words(note, "A note", empty=True)
    if not sources:
        raise BadContent("A request names a branch.", "Choose one.")
    first, *others = dict.fromkeys(sources)

    def put() -> MergeRequest:
        tx = repo.live()
        known = requests_in(tx.view)
        number = max((one.number for one in known), default=0) + 1
        made = _seen_now(
            tx.view,
            MergeRequest(
                number,
                first,
                into,
                repo.actor,
                words,
                now(),
                None,
                strategy,
                others=tuple(Beside(name, None) for name in others),
                picks=tuple(dict.fromkeys(picks)),
            ),
        )
        _refuse_senseless(repo, tx.view, made)
        same = next((one for one in known if one.state == "open" and _same(one, made)), None)
        if same is not None:
            raise InTheWay(f"Request {same.number} proposes that already.", "Comment on it, or change it.")
        what = f"pick {len(made.picks)} of" if made.picks else "merge"
        _publish(tx, made, "request", f"Asked to {what} {quoted(made.sources)} into “{into}”")
        return made

    return with_a_free_key(REQUESTS, put)


def comment(repo: Repo, number: int, text: str) -> Operation:
    """Say something about a request, whatever its state."""
    words = _words(text, "A comment")
    tx = repo.live()
    old = request_in(tx.view, number)
    new = replace(old, comments=(*old.comments, Comment(repo.actor, words, now())))
    return _publish(tx, new, "comment", f"Commented on {called(old)}")


def change(
    repo: Repo,
    number: int,
    note: str | Unchanged = UNCHANGED,
    into: str | Unchanged = UNCHANGED,
    strategy: Strategy | Unchanged = UNCHANGED,
    picks: Sequence[MessageId] | Unchanged = UNCHANGED,
) -> Operation:
    """Change what is proposed; the sources as they are now count as seen. Picks go when it is no cherry-pick any more.

    Raises:
        InTheWay: it was answered already.
        NothingToDo: it says that already.
        BadContent, NothingToDo: as `make`.
    """
    tx = repo.live()
    old = open_request(tx.view, number)
    new = _seen_now(tx.view, old)
    if not isinstance(note, Unchanged):
        new = replace(new, note=_words(note, "A note", empty=True))
    if not isinstance(into, Unchanged):
        new = replace(new, into=into)
    if not isinstance(strategy, Unchanged):
        new = replace(new, strategy=strategy, picks=new.picks if strategy == "cherry-pick" else ())
    if not isinstance(picks, Unchanged):
        new = replace(new, picks=tuple(dict.fromkeys(picks)))
    if (new.into, new.strategy, new.picks) != (old.into, old.strategy, old.picks):
        _refuse_senseless(repo, tx.view, new)
    if new == old:
        raise NothingToDo(f"{called(old)} says that already.")
    return _publish(tx, new, "request", f"Changed {called(old)}")


def decline(repo: Repo, number: int, why: str = "") -> Operation:
    """Close a request without merging; both branches stay as they are.

    Raises:
        InTheWay: it was answered already.
    """
    words = _words(why, "A reason", empty=True)
    tx = repo.live()
    old = open_request(tx.view, number)
    said = (*old.comments, Comment(repo.actor, words, now())) if words else old.comments
    new = replace(old, state="declined", answered_by=repo.actor, comments=said)
    return _publish(tx, new, "decline", f"Declined {called(old)}")


def accepting(repo: Repo, number: int, planned: MergePlan) -> MergePlan:
    """The plan that, when it lands, closes the request as accepted too.

    Raises:
        InTheWay: the request was answered already.
        BadContent: the plan merges something else.
        NothingToDo: the target has everything already: decline it, or say so.
    """
    request = open_request(repo.view, number)
    if not _is_of(repo, request, planned):
        raise BadContent(f"This plan is not of {called(request)}.", "Plan the request.")
    if not planned.lands:
        raise NothingToDo(
            f"“{request.into}” has all of {quoted(request.sources)} already.", "Decline the request."
        )
    return replace(planned, request=number)


def _publish(tx: Transaction, request: MergeRequest, verb: str, summary: str) -> Operation:
    tx.set(f"{REQUESTS}{request.number}", request.stored())
    return tx.publish(verb, summary)


def _seen_now(view: View, request: MergeRequest) -> MergeRequest:
    """As if its author looked at the sources now. NotFound where one is gone."""
    others = tuple(replace(one, seen=branch_in(view, one.source).head) for one in request.others)
    return replace(request, seen=branch_in(view, request.source).head, others=others)


def _refuse_senseless(repo: Repo, view: View, request: MergeRequest) -> None:
    """Refuse what nobody could accept: sentences and errors as `make`."""
    branch_in(view, request.into)
    offered = OFFERED_OF_SEVERAL if request.others else OFFERED
    if request.strategy not in offered:
        several = " of several branches" if request.others else ""
        raise BadContent(
            f"A request{several} cannot propose “{request.strategy}”.", f"There are: {', '.join(offered)}."
        )
    wish = Wish(request.strategy, request.picks)
    refuse_unheard(wish)
    for name in request.sources:
        if name == request.into or branch_in(view, name).head is None:
            raise NothingToDo(f"“{name}” cannot be merged into “{request.into}”.", "Choose another branch.")
    if request.strategy == "cherry-pick" and not merging.plan(repo, request.into, request.source, wish).lands:
        raise NothingToDo(f"“{request.into}” has all that is picked.", "Pick something else.")


def _same(one: MergeRequest, other: MergeRequest) -> bool:
    """Whether two requests propose the same messages for the same branch, however they would merge them."""
    return (one.into, set(one.sources), set(one.picks)) == (other.into, set(other.sources), set(other.picks))


def _is_of(repo: Repo, request: MergeRequest, planned: MergePlan) -> bool:
    """Whether a plan merges what is proposed, by whatever strategy.

    An octopus leaves out a source that brings nothing new: so what it was made of is known by making it again, without
    a model.
    """
    if planned.target_name != request.into or planned.graft is not None:
        return False
    brings = _bringing(planned)
    if not request.others:
        return brings == (request.source,)
    if planned.strategy not in OFFERED_OF_SEVERAL:
        return False
    first = (name for name in brings if name in request.sources)
    order = tuple(dict.fromkeys((*first, *request.sources)))
    wish = replace(planned.wish or Wish(planned.strategy), model=None)
    again = merging.plan_octopus(repo, request.into, order, wish)
    return not (planned.lands or again.lands) or brings == _bringing(again)


def _bringing(planned: MergePlan) -> tuple[str, ...]:
    return tuple(side.source_name for side in planned.sides) or (planned.source_name,)


def _words(text: str, what: str, *, empty: bool = False) -> str:
    words = fit_text(text, what).strip()
    if not words and not empty:
        raise BadContent(f"{what} needs some words.")
    if len(words) > LONGEST_NOTE:
        raise BadContent(f"{what} has at most {LONGEST_NOTE} characters.")
    return words
