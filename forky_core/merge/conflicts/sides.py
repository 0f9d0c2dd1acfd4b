"""The texts that are set against each other: branches since they parted, or answers to one question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from forky_core.context.convert import message_as_text
from forky_core.model import Message
from forky_core.model.hashing import content_hash

MOST_CHARACTERS = 40_000
"""The newest characters of each side that are compared."""
CUT = f"Only the newest {MOST_CHARACTERS:,} characters of each branch were compared."


@dataclass(frozen=True)
class ComparedSide:
    """One branch or one answer, as far as another may contradict it."""

    name: str
    said: tuple[Message, ...]
    """In order; a merge is replaced by the lines of its payload, each as a message of the one it cites."""

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The text of each message."""
        return tuple(map(message_as_text, self.said))

    @property
    def hash(self) -> str:
        told = zip(self.said, self.texts, strict=True)
        return content_hash([[one.id, one.role, text] for one, text in told])

    def newest(self) -> ComparedSide:
        """Return the side with as many of its last messages as are compared; at least one, cut at its beginning."""
        room, kept = MOST_CHARACTERS, len(self.said)
        while kept and (room := room - len(message_as_text(self.said[kept - 1]))) >= 0:
            kept -= 1
        return self if not kept else ComparedSide(self.name, self.said[kept:])


def newest(sides: Iterable[ComparedSide]) -> tuple[tuple[ComparedSide, ...], bool]:
    """Return what is compared of these sides, and whether that is less than all."""
    every = tuple(sides)
    kept = tuple(side.newest() for side in every)
    return kept, any(len(a.said) < len(b.said) for a, b in zip(kept, every, strict=True))


def of_answers(answers: Iterable[tuple[str, Message]]) -> tuple[ComparedSide, ...]:
    """Return named answers to one question as sides."""
    return tuple(ComparedSide(name, (answer,)) for name, answer in answers)


def in_order(sides: Sequence[ComparedSide]) -> list[int]:
    """Return the places of the sides in an order that depends on their texts alone, so that no name or place is
    preferred and the same texts are the same request.
    """
    hashes = [side.hash for side in sides]
    return sorted(range(len(sides)), key=lambda at: (hashes[at], at))
