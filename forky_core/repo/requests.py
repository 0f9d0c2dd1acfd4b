"""Merge requests: somebody proposes a branch for merging; it is looked at, talked about, changed, accepted or declined.

Each step is an operation with its author in the log. Accepting lands a merge plan and closes the request in one
operation: there is no moment at which one is done and the other is not.
"""

from __future__ import annotations

from dataclasses import replace

from forky_core.errors import BadContent, InTheWay, NothingToDo
from forky_core.merge.plan import MergePlan
from forky_core.model import Operation
from forky_core.parts import Strategy
from forky_core.repo.branching import UNCHANGED, Unchanged
from forky_core.repo.identity import now
from forky_core.repo.merge_request import (
    REQUESTS,
    Comment,
    MergeRequest,
    called,
    open_request,
    request_in,
    requests_in,
)
from forky_core.repo.repo import Repo, branch_in
from forky_core.repo.taking_in import fit_text
from forky_core.repo.transaction import Transaction, with_a_free_key

LONGEST_NOTE = 10_000
"""Characters of a note or a comment."""
OFFERED: tuple[Strategy, ...] = ("full", "squash", "three-way")
"""What a request may propose."""


def make(repo: Repo, source: str, into: str, note: str, strategy: Strategy) -> MergeRequest:
    """Propose a branch for merging.

    Raises:
        NotFound: one of the branches is not there.
        NothingToDo: the source is empty, or the target itself.
        InTheWay: the same is proposed already.
    """
    words = _words(note, "A note", empty=True)
    _check_strategy(strategy)

    def put() -> MergeRequest:
        tx = repo.live()
        of = branch_in(tx.view, source)
        branch_in(tx.view, into)
        if of.head is None or source == into:
            raise NothingToDo(f"“{source}” cannot be merged into “{into}”.", "Choose another branch.")
        known = requests_in(tx.view)
        same = next(
            (one for one in known if (one.source, one.into, one.state) == (source, into, "open")), None
        )
        if same is not None:
            raise InTheWay(f"Request {same.number} proposes that already.", "Comment on it, or change it.")
        number = max((one.number for one in known), default=0) + 1
        made = MergeRequest(number, source, into, repo.actor, words, now(), of.head, strategy)
        _publish(tx, made, "request", f"Asked to merge “{source}” into “{into}”")
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
) -> Operation:
    """Change what is proposed; the source as it is now counts as seen.

    Raises:
        InTheWay: it was answered already.
        NothingToDo: it says that already.
    """
    tx = repo.live()
    old = open_request(tx.view, number)
    new = replace(old, seen=branch_in(tx.view, old.source).head)
    if not isinstance(note, Unchanged):
        new = replace(new, note=_words(note, "A note", empty=True))
    if not isinstance(into, Unchanged):
        branch_in(tx.view, into)
        if into == old.source:
            raise NothingToDo(f"“{into}” cannot be merged into itself.", "Choose another branch.")
        new = replace(new, into=into)
    if not isinstance(strategy, Unchanged):
        _check_strategy(strategy)
        new = replace(new, strategy=strategy)
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
    if (planned.source_name, planned.target_name) != (request.source, request.into):
        raise BadContent(f"This plan is not of {called(request)}.", "Plan the request.")
    if not planned.lands:
        raise NothingToDo(f"“{request.into}” has all of “{request.source}” already.", "Decline the request.")
    return replace(planned, request=number)


def _publish(tx: Transaction, request: MergeRequest, verb: str, summary: str) -> Operation:
    tx.set(f"{REQUESTS}{request.number}", request.stored())
    return tx.publish(verb, summary)


def _check_strategy(strategy: str) -> None:
    if strategy not in OFFERED:
        raise BadContent(f"A request cannot propose “{strategy}”.", f"There are: {', '.join(OFFERED)}.")


def _words(text: str, what: str, *, empty: bool = False) -> str:
    words = fit_text(text, what).strip()
    if not words and not empty:
        raise BadContent(f"{what} needs some words.")
    if len(words) > LONGEST_NOTE:
        raise BadContent(f"{what} has at most {LONGEST_NOTE} characters.")
    return words
