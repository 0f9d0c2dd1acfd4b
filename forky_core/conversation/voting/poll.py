"""Polls and votes as values, read from a conversation's view, so that undo, redo and restore apply to them.

A poll is written once and never changes. Its votes and the reveal are entries of their own, so that a hundred people
who vote at the same moment never conflict:
`polls` → true where a conversation has a poll · `polls/<n>` → Poll.stored() ·
`polls/<n>/votes/<person>` → Vote.stored() · `polls/<n>/revealed` → {"by", "at"}.

Everything refers to messages by id. So votes outlive merges, and the renaming and deleting of branches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from forky_core.model import MessageId, View
from forky_core.model.changed_fields import changed_fields
from forky_core.model.errors import NotFound
from forky_core.model.parts import Json

MARK = "polls"
"""The key that a conversation with polls has, by which all of a workspace are found."""
POLLS = "polls/"
TIE = "tie"
BAD = "bad"
"""The choice that no answer is good enough."""
FEWEST, MOST = 2, 9
"""Candidates of a poll: each has a key from 1 to 9."""
MOST_CRITERIA = 6
BEST = 5
"""The highest score by a criterion; the lowest is 1."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A system prompt by its identity and its beginning."""

    id: str
    """The first digits of the hash of its text; "" for none."""
    line: str


@dataclass(frozen=True, slots=True)
class PollCandidate:
    """An answer that people vote on, with what made it when the poll was opened."""

    message: MessageId
    models: tuple[str, ...] = ()
    """The models that gave the answer, several if they said the same; () if no model did."""
    branches: tuple[str, ...] = ()
    """The branches whose head it was."""
    prompt: Prompt | None = None
    """The system prompt it was made with; None if that is not known, or if it was made with several."""

    def stored(self) -> dict[str, Json]:
        entry: dict[str, Json] = {"at": self.message}
        for name, values in (("model", self.models), ("branch", self.branches)):
            if values:
                entry[name] = values[0] if len(values) == 1 else list(values)
        if self.prompt is not None:
            entry["prompt"] = [self.prompt.id, self.prompt.line]
        return entry

    @classmethod
    def from_stored(cls, entry: Mapping[str, Any]) -> PollCandidate:
        prompt = entry.get("prompt")
        return cls(
            MessageId(entry["at"]),
            _names(entry.get("model")),
            _names(entry.get("branch")),
            Prompt(*prompt) if prompt is not None else None,
        )


def _names(entry: str | Sequence[str] | None) -> tuple[str, ...]:
    return (entry,) if isinstance(entry, str) else tuple(entry or ())


@dataclass(frozen=True, slots=True)
class Reveal:
    by: str
    at: int
    """Microseconds since the epoch, UTC."""


@dataclass(frozen=True)
class Poll:
    """A vote that people are asked for: which of these answers is better."""

    number: int
    candidates: tuple[PollCandidate, ...]
    """In the order in which they were given; while it hides names, each voter has an order of their own (`seen_by`)."""
    by: str
    at: int
    """Microseconds since the epoch, UTC."""
    question: MessageId | None = None
    """The last message that all candidates have in common; None if they have none."""
    title: str = ""
    criteria: tuple[str, ...] = ()
    """What each answer can be scored by, from 1 to BEST."""
    blind: bool = True
    """Whether names and counts are hidden until the reveal."""
    revealed: Reveal | None = None
    """None while people may vote."""

    @property
    def open(self) -> bool:
        return self.revealed is None

    @property
    def hidden(self) -> bool:
        """Whether names, counts and the votes of others are still hidden."""
        return self.blind and self.open

    @cached_property
    def messages(self) -> tuple[MessageId, ...]:
        """The candidates' messages."""
        return tuple(one.message for one in self.candidates)

    def candidate(self, message: MessageId) -> PollCandidate:
        """The candidate with this message. Raises NotFound if it is none of this poll."""
        for one in self.candidates:
            if one.message == message:
                return one
        raise NotFound(f"That answer is no candidate of poll {self.number}.")

    def stored(self) -> dict[str, Json]:
        """Everything but the number and the reveal."""
        entry: dict[str, Json] = {
            "candidates": [one.stored() for one in self.candidates],
            "by": self.by,
            "at": self.at,
            "question": self.question,
        }
        return entry | changed_fields(self, "title", "criteria", "blind")

    @classmethod
    def from_stored(
        cls, number: int, entry: Mapping[str, Any], revealed: Mapping[str, Any] | None = None
    ) -> Poll:
        return cls(
            number,
            tuple(map(PollCandidate.from_stored, entry["candidates"])),
            entry["by"],
            entry["at"],
            entry["question"],
            entry.get("title", ""),
            tuple(entry.get("criteria", ())),
            entry.get("blind", True),
            Reveal(revealed["by"], revealed["at"]) if revealed is not None else None,
        )


@dataclass(frozen=True, slots=True)
class Vote:
    """What one person chose in a poll."""

    person: str
    choice: str
    """The id of a candidate's message, TIE or BAD."""
    at: int
    """Microseconds since the epoch, UTC."""
    note: str = ""
    scores: Mapping[MessageId, Mapping[str, int]] = field(default_factory=lambda: MappingProxyType({}))
    """Scores from 1 to BEST by criterion, for each candidate that was scored."""

    def stored(self) -> dict[str, Json]:
        return {"choice": self.choice, "at": self.at} | changed_fields(self, "note", "scores")

    @classmethod
    def from_stored(cls, person: str, entry: Mapping[str, Any]) -> Vote:
        scores = {
            MessageId(id): MappingProxyType(dict(given)) for id, given in entry.get("scores", {}).items()
        }
        return cls(person, entry["choice"], entry["at"], entry.get("note", ""), MappingProxyType(scores))


def poll_key(number: int) -> str:
    return f"{POLLS}{number}"


def reveal_key(number: int) -> str:
    return f"{POLLS}{number}/revealed"


def vote_key(number: int, person: str) -> str:
    return f"{votes_of(number)}{person}"


def votes_of(number: int) -> str:
    """The prefix of the keys of a poll's votes."""
    return f"{POLLS}{number}/votes/"


def polls_in(view: View) -> tuple[Poll, ...]:
    """Every poll, newest first."""
    numbers = (key.removeprefix(POLLS) for key in view.entries if key.startswith(POLLS))
    return tuple(
        poll_in(view, number) for number in sorted(map(int, filter(str.isdecimal, numbers)), reverse=True)
    )


def poll_in(view: View, number: int) -> Poll:
    """The poll with this number. Raises NotFound if there is none."""
    entry: Any = view.entries.get(poll_key(number))
    if entry is None:
        raise NotFound(f"There is no poll {number}.", "It may have been undone.")
    revealed: Any = view.entries.get(reveal_key(number))
    return Poll.from_stored(number, entry, revealed)


def votes_in(view: View, number: int) -> tuple[Vote, ...]:
    """Every vote of a poll, in the order in which they were given."""
    prefix = votes_of(number)
    found = (
        Vote.from_stored(key.removeprefix(prefix), _entry(entry))
        for key, entry in view.entries.items()
        if key.startswith(prefix)
    )
    return tuple(sorted(found, key=lambda vote: (vote.at, vote.person)))


def vote_in(view: View, number: int, person: str) -> Vote | None:
    """A person's vote; None if they have not voted."""
    entry = view.entries.get(vote_key(number, person))
    return Vote.from_stored(person, _entry(entry)) if entry is not None else None


def _entry(value: Json) -> Mapping[str, Any]:
    assert isinstance(value, dict)
    return value
