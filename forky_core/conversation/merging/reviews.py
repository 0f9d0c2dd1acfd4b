"""Reviewing a merge request: approve it, ask for changes, or withdraw what one said (review_log.py)."""

from __future__ import annotations

from forky_core.conversation.identity import now
from forky_core.conversation.merging.landing import landed_messages
from forky_core.conversation.merging.merge_request import (
    REQUESTS,
    REVIEWS,
    MergeRequest,
    log_name,
    open_request,
)
from forky_core.conversation.merging.review_log import (
    VERB,
    RequestHeads,
    Review,
    ReviewFinding,
    ReviewState,
    proposal_of,
    request_heads,
)
from forky_core.conversation.session import Session
from forky_core.conversation.validation import fit_text
from forky_core.merge.plan import MergePlan
from forky_core.model import EMPTY_VIEW, MessageId, Operation, View
from forky_core.model.errors import BadContent, NotAllowed, NotFound, NothingToDo

LONGEST_REVIEW = 10_000
"""The most characters of a review."""
_DID = {"approved": "Approved", "changes": "Asked for changes in", "withdrawn": "Withdrew the review of"}


def give(
    session: Session,
    number: int,
    state: ReviewState,
    text: str = "",
    planned: MergePlan | None = None,
    findings: tuple[ReviewFinding, ...] = (),
) -> Operation:
    """Publish somebody's review. An approval is of `planned`, the plan by which the request would land.

    Raises:
        InTheWay: the request was answered already.
        NotAllowed: they proposed it themselves, and cannot approve it.
        BadContent: changes are asked for without a word which; or the text is too long.
        NothingToDo: there is nothing to approve, or to withdraw.
    """
    words = fit_text(text, "A review").strip()
    if len(words) > LONGEST_REVIEW:
        raise BadContent(f"A review has at most {LONGEST_REVIEW} characters.")
    tx = session.require_not_trashed()
    request, log = open_request(tx.view, number), session.reviews()
    if state == "withdrawn" and all(one.by != session.actor for one in log.reviews(number)):
        raise NothingToDo("You have not reviewed this request.")
    if state == "changes" and not words and not findings:
        raise BadContent("A review that asks for changes says which.")
    lands = None
    if state == "approved":
        if session.actor in log.authors(number):
            raise NotAllowed(
                "Nobody approves what they proposed themselves.", "Ask somebody else for a review."
            )
        if planned is None or planned.target_name != request.into or not planned.lands:
            raise NothingToDo("There is nothing here to approve.")
        lands = head_after(planned)
    heads = heads_of(session, tx.view, request)
    review = Review(session.actor, state, words, now(), lands, proposal_of(request), heads, findings)
    tx.set(f"{REVIEWS}{number}/{session.actor}", review.stored())
    tx.require(f"{REQUESTS}{number}")
    return tx.publish(VERB, f"{_DID[state]} {log_name(request)}")


def give_of_model(session: Session, number: int, review: Review) -> Operation:
    """Publish what a model, which this person asked, has found in a request.

    Raises:
        InTheWay: the request was answered meanwhile.
    """
    tx = session.require_not_trashed()
    request = open_request(tx.view, number)
    tx.set(f"{REVIEWS}{number}/{session.actor}/{review.by}", review.stored())
    tx.require(f"{REQUESTS}{number}")
    return tx.publish(VERB, f"Had {review.by} read {log_name(request)}")


def head_after(planned: MergePlan) -> MessageId:
    """The message that the target ends with once this plan has landed."""
    if planned.fast_forward is not None:
        return planned.fast_forward
    return landed_messages(planned)[-1].id


def heads_of(session: Session, view: View, request: MergeRequest) -> RequestHeads:
    """Where the branches of a request are in this view, or its source in the other conversation."""
    home = view
    if request.graft is not None:
        try:
            home = session.other_conversation(request.graft.conversation).view
        except NotFound:
            home = EMPTY_VIEW
    return request_heads(request, view, home)
