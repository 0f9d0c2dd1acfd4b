"""Which statements of two branches cannot both hold, found by rules in some languages and without a model.

Both sides are read into statements (statements.py): a piece of a message, what it is about, and what it says of it.
Two statements about the same thing that say something different of the same kind contradict each other. Where one
side changed its mind, only what it said last is compared. Nothing is decided here: a person is shown both sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from forky_core.model import Message, MessageId

Kind = Literal["value", "polarity", "choice", "date", "duration", "owner", "list"]


@dataclass(frozen=True, slots=True)
class Statement:
    """Something that a message says of something."""

    message: MessageId
    speaker: str
    """The name of who said it, or the role of the message."""
    quote: str
    """The sentence, clause or line, exactly as it stands in the message."""
    key: str
    """In a few words, what it is about."""
    kind: Kind
    value: str
    """What it says of that, as the message words it; of polarity, "yes" or "no"."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two statements that cannot both hold."""

    mine: Statement
    theirs: Statement

    @property
    def kind(self) -> Kind:
        return self.mine.kind

    @property
    def key(self) -> str:
        """In a few words, what the two disagree about."""
        return self.mine.key


@dataclass(frozen=True, slots=True)
class Supersession:
    """A statement that a later one of the same line corrects, replaces or takes back."""

    earlier: Statement
    later: Statement


def contradictions(mine: Sequence[Message], theirs: Sequence[Message]) -> tuple[Contradiction, ...]:
    """What stands at the end of `mine` and cannot hold together with what stands at the end of `theirs`.

    Both are read in the order they were said. At most one contradiction is given for each statement of `mine`.
    """
    return ()


def supersessions(line: Sequence[Message]) -> tuple[Supersession, ...]:
    """What a later message of one line took back, in the order in which that happened."""
    return ()
