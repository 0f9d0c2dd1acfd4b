"""The polls of a workspace that are revealed: what a blind poll still hides leaves in no table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from forky_core.conversation.voting.poll import Poll, Vote, polls_in, votes_in
from forky_core.model import ConversationId, View


@dataclass(frozen=True, slots=True)
class RevealedPoll:
    """A revealed poll with its votes, and its conversation as it is now."""

    conversation: ConversationId
    view: View
    poll: Poll
    votes: tuple[Vote, ...]


def revealed_polls(conversations: Iterable[tuple[ConversationId, View]]) -> tuple[RevealedPoll, ...]:
    """The revealed polls of these conversations, with their votes."""
    return tuple(
        RevealedPoll(id, view, poll, votes_in(view, poll.number))
        for id, view in conversations
        for poll in polls_in(view)
        if not poll.open
    )
