"""The open merge requests of all conversations that wait for a member, and those that the member made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from forky_core.conversation.merging.merge_request import REQUESTS, MergeRequest
from forky_core.conversation.workspace import Workspace
from forky_core.model import ConversationId
from forky_core.model.errors import NotFound
from forky_core.team.access import Access
from forky_core.team.branch_protection import BranchProtection
from forky_core.team.review_standing import ReviewStanding
from forky_core.team.team import Team

_GAPS = 3
"""Numbers in a row that no request has, after which no conversation is expected to have a higher one."""


@dataclass(frozen=True, slots=True)
class WaitingRequest:
    """An open request of one conversation."""

    conversation: ConversationId
    title: str
    request: MergeRequest
    standing: ReviewStanding | None
    """Its reviews, held against the rule of its target; None if nothing protects that."""
    decides: bool
    """Whether the member may land it themselves once it is ready."""


@dataclass(frozen=True, slots=True)
class ReviewLists:
    """What a member's front page lists, newest first."""

    to_review: tuple[WaitingRequest, ...]
    mine: tuple[WaitingRequest, ...]


def review_lists(forky: Workspace, team: Team, access: Access) -> ReviewLists:
    """The open requests that wait for a member's review or answer, and the member's own.

    `forky` and `access` are theirs. Requests of conversations in the trash are left out.
    """
    to_review: list[WaitingRequest] = []
    mine: list[WaitingRequest] = []
    for conversation, request in _open_requests(forky):
        with suppress(NotFound):  # It was deleted or taken away just now.
            chat = forky.conversation(conversation)
            if chat.view.trashed:
                continue
            protection = BranchProtection(team, access, chat)
            own = access.id in chat.requests.authors(request.number)
            if own or protection.needs_review_of(request):
                line = WaitingRequest(
                    conversation,
                    chat.title,
                    request,
                    protection.standing(request),
                    protection.edits,
                )
                (mine if own else to_review).append(line)
    return ReviewLists(_newest_first(to_review), _newest_first(mine))


def _open_requests(forky: Workspace) -> Iterator[tuple[ConversationId, MergeRequest]]:
    number, gaps = 1, 0
    while gaps < _GAPS:
        found = forky.store.entries(f"{REQUESTS}{number}")
        gaps = 0 if found else gaps + 1
        for conversation, entry in found.items():
            request = MergeRequest.from_stored(number, entry)
            if request.state == "open":
                yield conversation, request
        number += 1


def _newest_first(lines: list[WaitingRequest]) -> tuple[WaitingRequest, ...]:
    return tuple(sorted(lines, key=lambda line: -line.request.at))
