"""The open merge requests of all conversations that wait for a member, and those that the member made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.merging.merge_request import REQUESTS, MergeRequest
from forky_core.conversation.workspace import Workspace
from forky_core.model import ConversationId
from forky_core.model.errors import NotFound
from forky_core.people.access import Access

_GAPS = 3
"""Numbers in a row that no request has, after which no conversation is expected to have a higher one."""


@dataclass(frozen=True, slots=True)
class WaitingRequest:
    """An open request of one conversation."""

    conversation: ConversationId
    title: str
    request: MergeRequest
    approved: tuple[str, ...]
    """The ids of people who approved it as it is now."""
    asking: tuple[str, ...]
    """The ids of people who ask for changes."""


@dataclass(frozen=True, slots=True)
class ReviewLists:
    """What a member's front page lists, newest first."""

    to_review: tuple[WaitingRequest, ...]
    mine: tuple[WaitingRequest, ...]


def review_lists(forky: Workspace, access: Access | None) -> ReviewLists:
    """The open requests that wait for a member's answer, and the member's own.

    `forky` and `access` are theirs; None: somebody alone, to whom everything belongs. Requests of conversations in the
    trash are left out.
    """
    me = access.id if access is not None else forky.actor
    to_review: list[WaitingRequest] = []
    mine: list[WaitingRequest] = []
    for conversation, request in _open_requests(forky):
        with suppress(NotFound):  # It was deleted or taken away just now.
            chat = forky.conversation(conversation)
            if chat.view.trashed:
                continue
            own = me in chat.requests.authors(request.number)
            if own or (_waits_for(me, chat, request) and (access is None or access.belongs(conversation))):
                (mine if own else to_review).append(_line(chat, request))
    return ReviewLists(_newest_first(to_review), _newest_first(mine))


def _waits_for(me: str, chat: Conversation, request: MergeRequest) -> bool:
    """Whether somebody has neither approved an open request as it is nor asked for changes."""
    heads = chat.requests.heads(request.number)
    return all(
        review.by != me or (review.state == "approved" and review.outdated(request, heads))
        for review in chat.requests.reviews(request.number)
    )


def _line(chat: Conversation, request: MergeRequest) -> WaitingRequest:
    heads = chat.requests.heads(request.number)
    reviews = chat.requests.reviews(request.number)
    approved = (one.by for one in reviews if one.state == "approved" and not one.outdated(request, heads))
    asking = (one.by for one in reviews if one.state == "changes")
    return WaitingRequest(chat.id, chat.title, request, tuple(approved), tuple(asking))


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
