"""Which statements of two branches cannot both hold, found by rules in some languages and without a model.

Both sides are read into statements (statements.py): a piece of a message, what it is about, and what it says of it.
Two statements about the same thing that say something different of the same kind contradict each other. Where one
side changed its mind, only what it said last is compared. Nothing is decided here: a person is shown both sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forky_core.merge.claims.matching import Kind, Side, matches
from forky_core.merge.claims.statements import Piece, pieces
from forky_core.model import Message, MessageId


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




ENOUGH = 0.3
"""The score from which on two statements are shown as a contradiction."""


def contradictions(mine: Sequence[Message], theirs: Sequence[Message]) -> tuple[Contradiction, ...]:
    """What stands at the end of `mine` and cannot hold together with what stands at the end of `theirs`.

    Both are read in the order they were said. No statement is given twice; the surest contradiction comes first.
    """
    found = matches(Side.of(pieces(mine)), Side.of(pieces(theirs)))
    taken: set[tuple[str, str]] = set()
    made: list[Contradiction] = []
    for match in sorted((match for match in found if match.score >= ENOUGH), key=lambda match: -match.score):
        places = {("mine", match.mine.text), ("theirs", match.theirs.text)}
        if not places & taken:
            taken |= places
            made.append(
                Contradiction(
                    _statement(match.mine, match.kind, match.my_value, match.theirs),
                    _statement(match.theirs, match.kind, match.their_value, match.mine),
                )
            )
    return tuple(made)


def _statement(piece: Piece, kind: Kind, value: str, other: Piece) -> Statement:
    return Statement(piece.passage.message, piece.speaker, piece.text, "", kind, value)


def supersessions(line: Sequence[Message]) -> tuple[Supersession, ...]:
    """What a later message of one line took back, in the order in which that happened."""
    return ()
