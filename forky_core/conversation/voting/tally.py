"""The votes of one poll, counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from forky_core.conversation.voting.poll import BAD, BEST, TIE, Poll, Vote
from forky_core.model import MessageId


@dataclass(frozen=True, slots=True)
class MeanScore:
    """The mean of what people gave an answer by one criterion."""

    mean: float
    given: int
    """How many people scored it."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How often each answer of a poll was chosen, and how it was scored."""

    poll: int
    """The poll's number."""
    votes: int
    """How many people voted."""
    counts: Mapping[MessageId, int]
    """For each candidate, how many chose it, in the order in which the poll lists them."""
    ties: int
    bad: int
    """How many found no answer good enough."""
    unread: int
    """Votes of a file for something that is no choice of this poll; they count for nothing."""
    scores: Mapping[MessageId, Mapping[str, MeanScore]]

    @property
    def leading(self) -> MessageId | None:
        """The candidate that more people chose than any other candidate, and than called it a tie or all bad."""
        most = max(self.counts.values(), default=0)
        first = [message for message, count in self.counts.items() if count == most]
        return first[0] if len(first) == 1 and most > max(self.ties, self.bad) else None


def tally(poll: Poll, votes: Sequence[Vote]) -> Tally:
    """Count the votes of a poll."""
    choices = [vote.choice for vote in votes]
    counts = {message: choices.count(message) for message in poll.messages}
    ties, bad = choices.count(TIE), choices.count(BAD)
    unread = len(votes) - sum(counts.values()) - ties - bad
    scores = {
        message: MappingProxyType(
            {
                criterion: MeanScore(sum(given) / len(given), len(given))
                for criterion in poll.criteria
                if (given := _given(votes, message, criterion))
            }
        )
        for message in poll.messages
    }
    return Tally(
        poll.number, len(votes), MappingProxyType(counts), ties, bad, unread, MappingProxyType(scores)
    )


def _given(votes: Sequence[Vote], message: MessageId, criterion: str) -> list[int]:
    scores = (vote.scores.get(message, {}).get(criterion) for vote in votes)
    return [score for score in scores if score is not None and 1 <= score <= BEST]
