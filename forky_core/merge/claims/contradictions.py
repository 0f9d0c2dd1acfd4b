"""Finds statements of two branches that cannot both hold, by rules in five languages and without a model.

Both sides are read into statements (pieces.py): a piece of a message, its subject, and what it says about it. Two
statements that say something different of the same kind about the same subject contradict each other. If one side
changed its mind, only its last statement is compared. Nothing is decided here: a person is shown both sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from forky_core.merge.claims.matching import ClaimMatch, ClauseIndex, Kind, matches
from forky_core.merge.claims.pieces import Clause, pieces, without_values
from forky_core.merge.claims.plainness import needed, plainness
from forky_core.merge.claims.word_keys import spelled, word_keys
from forky_core.model import Message, MessageId


@dataclass(frozen=True, slots=True)
class Statement:
    """One assertion of a message about a subject."""

    message: MessageId
    speaker: str
    """The author's name, or the role of the message."""
    quote: str
    """The sentence, clause or line, exactly as it stands in the message."""
    key: str
    """The subject in a few words."""
    kind: Kind
    value: str
    """The value as the message words it; for polarity, "yes" or "no"."""


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
        """The subject of the disagreement in a few words."""
        return self.mine.key


ENOUGH = 0.3
"""The lowest score at which two statements are shown as a contradiction."""
_KEY_WORDS = 4


def contradictions(
    mine: Sequence[Message],
    theirs: Sequence[Message],
    *,
    before: tuple[Message | None, Message | None] = (None, None),
) -> tuple[Contradiction, ...]:
    """Find the standing statements of `mine` that contradict standing statements of `theirs`.

    Both are read in order, each after the message `before` it: the question that it may answer. No statement appears
    twice; the surest contradiction comes first.
    """
    return _contradictions(tuple(mine), tuple(theirs), *before)


@lru_cache(maxsize=16)
def _contradictions(
    mine: tuple[Message, ...],
    theirs: tuple[Message, ...],
    before_mine: Message | None,
    before_theirs: Message | None,
) -> tuple[Contradiction, ...]:
    """Cached, because messages never change and a card plans several merges of the same two sides."""
    ours = ClauseIndex.of(pieces(mine, before=before_mine))
    others = ClauseIndex.of(pieces(theirs, before=before_theirs))
    least = needed(len(ours.pieces) * len(others.pieces))
    found = matches(ours, others)
    taken: set[tuple[str, str]] = set()
    made: list[Contradiction] = []
    for match in sorted((match for match in found if match.score >= ENOUGH), key=lambda match: -match.score):
        places = {("mine", match.mine.text), ("theirs", match.theirs.text)}
        if not places & taken and plainness(match.mine, match.theirs) >= least + match.margin:
            taken |= places
            made.append(Contradiction(*statements(match)))
    return tuple(made)


def statements(match: ClaimMatch) -> tuple[Statement, Statement]:
    """Return the two pieces of a match as statements about one subject."""
    key = _key(match.mine, match.theirs)
    mine, theirs = match.mine, match.theirs
    return (
        Statement(mine.passage.message, mine.speaker, mine.text, key, match.kind, match.my_value),
        Statement(theirs.passage.message, theirs.speaker, theirs.text, key, match.kind, match.their_value),
    )


def _key(one: Clause, other: Clause) -> str:
    """Return the words that both pieces share as their subject, spelled as in one of them or in its question."""
    for piece, beside in ((one, other), (other, one)):
        for text in (without_values(piece.text, piece.quantities), piece.question):
            words = [word for word in spelled(text) if not beside.about.keys().isdisjoint(word_keys(word))]
            if words:
                return " ".join(list(dict.fromkeys(words))[:_KEY_WORDS])
    return " ".join(spelled(one.text)[:_KEY_WORDS])
