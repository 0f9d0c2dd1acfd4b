"""Ratings over many polls: which model, prompt or tag people prefer, and how sure that is.

Only polls that are revealed count: a rating must not tell what a blind poll still hides. A ballot is one person's vote.
Its choice beats every other candidate once; a tie, and a vote that no answer is good enough, are half a win for each.
Candidates of the same group do not compete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

from forky_core.model import ConversationId, View
from forky_core.model.errors import BadContent
from forky_core.model.parts import Json
from forky_core.votes.bradley_terry import Contest, estimates
from forky_core.votes.poll import BAD, TIE, Poll, PollCandidate, Vote, polls_in, votes_in

By = Literal["model", "prompt", "tag"]
BY: tuple[By, ...] = get_args(By)
NO_MODEL = "(written by a person)"
NO_PROMPT = "(no system prompt)"


@dataclass(frozen=True, slots=True)
class RevealedPoll:
    """A revealed poll with its votes, and its conversation as it is now."""

    conversation: ConversationId
    view: View
    poll: Poll
    votes: tuple[Vote, ...]


@dataclass(frozen=True, slots=True)
class PollsOfWorkspace:
    """The polls of all conversations outside the trash."""

    revealed: tuple[RevealedPoll, ...]
    open: int
    """How many are not revealed yet."""


@dataclass(frozen=True, slots=True)
class Rating:
    """How one model, prompt or tag stands."""

    label: str
    rating: float
    """On Elo's scale, with 1500 as its centre: 400 points more win ten times as often as they lose."""
    lower: float
    """Of the interval in which the rating lies with a probability of 95 %."""
    upper: float
    rank: int
    """1 + how many are better beyond doubt, that is with an interval that lies above this one."""
    votes: int
    """The ballots it took part in."""
    wins: float
    """Ties count half."""
    losses: float


@dataclass(frozen=True, slots=True)
class Ratings:
    """How all that people voted on stand to each other."""

    by: By
    rows: tuple[Rating, ...]
    """The best first; without those that no vote compared with another."""
    wins: tuple[tuple[float, ...], ...]
    """`wins[i][j]`: how often row i beat row j; ties count half."""
    polls: int
    votes: int
    """The ballots that compared at least two groups."""
    open_polls: int
    """Polls that are not revealed yet and therefore do not count."""

    @property
    def winner(self) -> str | None:
        """The one whose interval lies above all others; None if there is no such one."""
        if len(self.rows) < 2:
            return None
        first, *others = self.rows
        return first.label if all(first.lower > other.upper for other in others) else None

    def stored(self) -> dict[str, Json]:
        """The ratings as JSON."""
        return {
            "by": self.by,
            "polls": self.polls,
            "votes": self.votes,
            "open_polls": self.open_polls,
            "winner": self.winner,
            "rows": [
                {
                    "label": row.label,
                    "rating": round(row.rating, 1),
                    "lower": round(row.lower, 1),
                    "upper": round(row.upper, 1),
                    "rank": row.rank,
                    "votes": row.votes,
                    "wins": row.wins,
                    "losses": row.losses,
                }
                for row in self.rows
            ],
            "wins": [list(row) for row in self.wins],
        }


def polls_of(conversations: Iterable[tuple[ConversationId, View]]) -> PollsOfWorkspace:
    """Read the polls of conversations."""
    revealed, still_open = [], 0
    for id, view in conversations:
        for poll in polls_in(view):
            if poll.open:
                still_open += 1
            else:
                revealed.append(RevealedPoll(id, view, poll, votes_in(view, poll.number)))
    return PollsOfWorkspace(tuple(revealed), still_open)


def rate(found: PollsOfWorkspace, by: By = "model", *, seed: int = 0) -> Ratings:
    """Rate what the candidates of these polls have in common; the same seed gives the same intervals.

    Raises:
        BadContent: `by` is none of BY.
    """
    if by not in BY:
        raise BadContent(f"Ratings go by {', '.join(BY)}.")
    group = _GROUPS[by]
    grouped = [(one, [group(one, candidate) for candidate in one.poll.candidates]) for one in found.revealed]
    labels = sorted({label for _, groups in grouped for names in groups for label in names})
    numbers = {label: at for at, label in enumerate(labels)}
    ballots = []
    for one, groups in grouped:
        places = [[numbers[label] for label in names] for names in groups]
        ballots += [_contests(one.poll, vote, places) for vote in one.votes]
    ballots = [ballot for ballot in ballots if ballot]
    found_ratings = estimates(ballots, len(labels), seed=seed)
    wins = [[0.0] * len(labels) for _ in labels]
    votes = [0] * len(labels)
    for ballot in ballots:
        for contest in ballot:
            wins[contest.one][contest.other] += contest.share
            wins[contest.other][contest.one] += 1 - contest.share
        for at in {at for contest in ballot for at in (contest.one, contest.other)}:
            votes[at] += 1
    met = [at for at in range(len(labels)) if votes[at]]
    order = sorted(met, key=lambda at: (-found_ratings[at].rating, labels[at]))
    rows = tuple(
        Rating(
            labels[at],
            (own := found_ratings[at]).rating,
            own.lower,
            own.upper,
            1 + sum(found_ratings[other].lower > own.upper for other in met),
            votes[at],
            sum(wins[at]),
            sum(row[at] for row in wins),
        )
        for at in order
    )
    matrix = tuple(tuple(wins[at][other] for other in order) for at in order)
    return Ratings(by, rows, matrix, len(found.revealed), len(ballots), found.open)


def _contests(poll: Poll, vote: Vote, places: Sequence[Sequence[int]]) -> list[Contest]:
    """What a vote says of each two groups, once for each two."""
    everyone = {at for group in places for at in group}
    if vote.choice in (TIE, BAD):
        met = {tuple(sorted((a, b))) for x, y in combinations(places, 2) for a in x for b in y if a != b}
        return [Contest(one, other, 0.5) for one, other in sorted(met)]
    chosen = [groups for message, groups in zip(poll.messages, places, strict=True) if message == vote.choice]
    if not chosen:
        return []
    winners = set(chosen[0])
    return [Contest(one, other, 1.0) for one in sorted(winners) for other in sorted(everyone - winners)]


def _model(_poll: RevealedPoll, candidate: PollCandidate) -> tuple[str, ...]:
    return candidate.models or (NO_MODEL,)


def _prompt(_poll: RevealedPoll, candidate: PollCandidate) -> tuple[str, ...]:
    if candidate.prompt is None:
        return ()
    if not candidate.prompt.id:
        return (NO_PROMPT,)
    return (f"{candidate.prompt.line} ({candidate.prompt.id})",)


def _tag(poll: RevealedPoll, candidate: PollCandidate) -> tuple[str, ...]:
    return tuple(name for name, at in poll.view.tags.items() if at == candidate.message)


_GROUPS: dict[By, Callable[[RevealedPoll, PollCandidate], tuple[str, ...]]] = {
    "model": _model,
    "prompt": _prompt,
    "tag": _tag,
}
