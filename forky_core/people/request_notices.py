"""Decides who gets a notice about a merge request: reviewers, its author, participants, people mentioned."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

from forky_core.conversation.merging.merge_request import REQUESTS, REVIEWS, MergeRequest
from forky_core.conversation.merging.review_log import Review
from forky_core.conversation.session import short
from forky_core.model import Change
from forky_core.model.errors import StoreError
from forky_core.model.parts import Json
from forky_core.people.inbox import NoticeKind
from forky_core.people.mentions import mentioned_in
from forky_core.people.roles import Role
from forky_core.people.sharing import OWNERS
from forky_core.people.team import Team
from forky_core.store.contract import Commit

_LOADING = frozenset({"undo", "redo", "restore", "import", "unite", "create"})
"""Verbs that bring an earlier request back, of which everybody knows already."""


def tell_of_requests(team: Team, commit: Commit, by: str, stored: Callable[[str], Json | None]) -> None:
    """Give notices of the merge requests that a change made, answered, reviewed or commented on.

    `by` is who made it; `stored` returns what the conversation has under a key now.
    """
    if commit.verb in _LOADING:
        return
    for change in commit.changes:
        if change.key.startswith(REQUESTS) and change.after is not None and change.before != change.after:
            # The change has been made: a request that cannot be read, or a file that is full, is no reason to fail.
            with suppress(StoreError, KeyError, TypeError, ValueError):
                _tell(team, commit, change, by)
        elif change.key.startswith(REVIEWS) and change.after is not None and change.before != change.after:
            with suppress(StoreError, KeyError, TypeError, ValueError, AttributeError):
                _tell_of_review(team, commit, change, by, stored)


def _tell(team: Team, commit: Commit, change: Change, by: str) -> None:
    number = int(change.key.removeprefix(REQUESTS))
    new = MergeRequest.from_stored(number, change.after or {})
    old = MergeRequest.from_stored(number, change.before) if change.before is not None else None
    fresh = new.comments[len(old.comments) if old is not None else 0 :]
    words = "\n".join(
        [*([new.note] if old is None or old.note != new.note else []), *(one.text for one in fresh)]
    )
    told: set[str] = {by}

    def tell(people: Iterable[str], kind: NoticeKind) -> None:
        for person in people:
            if person not in told and team.inbox.tell(
                person,
                kind,
                by=by,
                conversation=commit.conversation,
                quote=words,
                request=number,
                branch=new.into,
            ):
                told.add(person)

    tell(mentioned_in(team, commit.conversation, words), "mention")
    if old is None:
        tell(_owners(team, commit), "review")
    elif new.state not in (old.state, "open"):
        tell([new.by], "landed" if new.state == "accepted" else "declined")
    if fresh:
        tell([new.by, *(one.by for one in new.comments)], "comment")


def _tell_of_review(
    team: Team, commit: Commit, change: Change, by: str, stored: Callable[[str], Json | None]
) -> None:
    number = change.key.removeprefix(REVIEWS).partition("/")[0]
    request = MergeRequest.from_stored(int(number), stored(f"{REQUESTS}{number}") or {})
    review = Review.from_stored(by, change.after)
    if request.by != by and request.state == "open" and review.state != "read":
        team.inbox.tell(
            request.by,
            review.state,
            by=by,
            conversation=commit.conversation,
            quote=review.told(short),
            request=request.number,
            branch=request.into,
        )


def _owners(team: Team, commit: Commit) -> list[str]:
    """Whom the conversation belongs to; for one of nobody in particular, the owners of the workspace."""
    owner = team.sharing.of(commit.conversation).owner
    return (
        [member.id for member in team.members.all() if member.role is Role.OWNER]
        if owner == OWNERS
        else [owner]
    )
