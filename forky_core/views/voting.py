"""The view models of a poll: the ballot that one person sees, and the outcome that everybody sees after the reveal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.voting.poll import BAD, TIE, Poll, Vote
from forky_core.conversation.voting.shuffling import LETTERS
from forky_core.conversation.voting.tally import MeanScore
from forky_core.model import Message, MessageId
from forky_core.model.model_names import together

CHOICES = {TIE: "Tie", BAD: "None is good enough"}


@dataclass(frozen=True, slots=True)
class BallotOption:
    """A candidate as one person sees it."""

    letter: str
    message: MessageId
    turns: tuple[Message, ...]
    """What was said after the question, up to the answer; () if the answer was removed."""
    models: tuple[str, ...] = ()
    """The models that said it; () while the poll hides names."""
    branches: tuple[str, ...] = ()
    """Likewise."""

    def made_by(self, label: Callable[[str], str]) -> str:
        """The models and the branches that it stands for: “GPT-4o and GPT-5.6 · one and two”; "" if not known.

        `label` returns the name of a model for people.
        """
        named = (tuple(map(label, self.models)), self.branches)
        return " · ".join(together(names) for names in named if names)

    @property
    def removed(self) -> bool:
        """Whether the answer was pruned, or deleted with its branch, after the poll was opened."""
        return not self.turns

    @property
    def text(self) -> str:
        """The answer alone."""
        return self.turns[-1].text if self.turns else ""


@dataclass(frozen=True, slots=True)
class Ballot:
    poll: Poll
    question: Message | None
    """None if the candidates have no message in common, or it was removed."""
    options: tuple[BallotOption, ...]
    """In the order of this person."""
    mine: Vote | None
    voters: int

    @property
    def votable(self) -> bool:
        """Whether at least one answer is left to choose."""
        return self.poll.open and any(not option.removed for option in self.options)

    @property
    def chosen(self) -> str:
        """The letter of this person's choice, TIE or BAD; "" without a vote."""
        if self.mine is None:
            return ""
        return next((one.letter for one in self.options if one.message == self.mine.choice), self.mine.choice)


@dataclass(frozen=True, slots=True)
class PollResultRow:
    option: BallotOption
    votes: int
    share: float
    """Of all votes, from 0 to 1."""
    leads: bool
    scores: Mapping[str, MeanScore]


@dataclass(frozen=True, slots=True)
class VoteNote:
    """A voter's note with the vote it explains."""

    person: str
    choice: str
    """A letter, or a word."""
    text: str


@dataclass(frozen=True, slots=True)
class PollResult:
    rows: tuple[PollResultRow, ...]
    """The most votes first."""
    ties: int
    bad: int
    unread: int
    votes: int
    notes: tuple[VoteNote, ...]


def ballot_of(chat: Conversation, number: int) -> Ballot:
    """The ballot as this person sees it. Raises NotFound if there is no such poll."""
    poll = chat.polls.get(number)
    shown = chat.visible.messages
    options = tuple(
        BallotOption(
            letter,
            candidate.message,
            _turns(candidate.message, poll.question, shown),
            () if poll.hidden else candidate.models,
            () if poll.hidden else candidate.branches,
        )
        for letter, candidate in zip(LETTERS, chat.polls.order(number), strict=False)
    )
    question = shown.get(poll.question) if poll.question is not None else None
    return Ballot(poll, question, options, chat.polls.mine(number), len(chat.polls.voters(number)))


def outcome_of(chat: Conversation, number: int) -> PollResult:
    """The counts and, once they are not hidden, the notes. Raises NotAllowed if counts are hidden from this person."""
    counted = chat.polls.tally(number)
    ballot = ballot_of(chat, number)
    rows = [
        PollResultRow(
            option,
            counted.counts[option.message],
            counted.counts[option.message] / counted.votes if counted.votes else 0.0,
            counted.leading == option.message,
            counted.scores[option.message],
        )
        for option in ballot.options
    ]
    notes = () if ballot.poll.hidden else _notes(ballot, chat.polls.votes(number))
    ordered = tuple(sorted(rows, key=lambda row: (-row.votes, row.option.letter)))
    return PollResult(ordered, counted.ties, counted.bad, counted.unread, counted.votes, notes)


def _notes(ballot: Ballot, votes: Sequence[Vote]) -> tuple[VoteNote, ...]:
    letters = {option.message: option.letter for option in ballot.options}
    return tuple(
        VoteNote(
            vote.person,
            next((letter for message, letter in letters.items() if message == vote.choice), None)
            or CHOICES.get(vote.choice, "?"),
            vote.note,
        )
        for vote in votes
        if vote.note
    )


def _turns(
    message: MessageId, question: MessageId | None, shown: Mapping[MessageId, Message]
) -> tuple[Message, ...]:
    found: list[Message] = []
    at: MessageId | None = message
    while at is not None and at != question:
        if at not in shown:
            return ()
        found.append(shown[at])
        at = shown[at].parent
    return tuple(one for one in reversed(found) if not one.hidden or one.id == message)
