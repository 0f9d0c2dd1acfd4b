"""The lines of a branch that a squash may quote, each with the chance that it will be needed.

A line counts once, where it was said last; what the target says already is no candidate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from forky_core.llm.tokens import estimate_tokens
from forky_core.merge.headings import HEADINGS
from forky_core.merge.lines.units import NO_NAMES, Names, Unit, atoms, is_name, plain, plain_lines, units
from forky_core.merge.lines.worth import (
    LINE_WORTH,
    Sayings,
    Uses,
    chance,
    line_features,
    uses,
    worths,
)
from forky_core.model import Message

BYTES_PER_TOKEN = 4
_SHORTEST = 8
"""Characters below which a line without a name is not worth its citation: `try:`, “Sure!”."""


@dataclass(slots=True)
class Candidate:
    """A line that may be quoted."""

    unit: Unit
    atoms: tuple[str, ...]
    features: tuple[float, ...]
    section: str
    chance: float = 0.0


@dataclass(frozen=True, slots=True)
class Quotable:
    """What a branch says, as far as the target does not know it."""

    messages: Sequence[Message]
    names: Names
    """What can be named of them, and not quoted."""
    candidates: tuple[Candidate, ...]
    """Distinct lines, each where it was said last, in that order."""
    uses: dict[str, Uses]
    worths: dict[str, float]
    """Of every atom: its part of what all are worth."""
    known: frozenset[str]
    """Atoms of the target."""
    size: float
    """Tokens of all its lines, estimated."""
    prose: float
    """How far it is nothing but prose: the share of its tokens that people and models put in words, to the sixth."""

    @classmethod
    def of(
        cls, messages: Sequence[Message], target_texts: Sequence[str], names: Names = NO_NAMES
    ) -> Quotable:
        found = units(messages, names)
        said_in = [atoms(unit.text) for unit in found]
        by_atom = uses(found, said_in)
        whole = sum(size(unit.text) for unit in found)
        words = sum(size(unit.text) for unit in found if unit.shape == "prose" and unit.role != "tool")
        prose = (words / max(1.0, whole)) ** 6
        known = plain_lines(target_texts)
        sayings: dict[str, Sayings] = {}
        for unit in found:
            key = plain(unit.text)
            if key and key not in known and _quotable(unit, key, said_in[unit.place]):
                said = sayings.get(key)
                if said is None:
                    said = sayings[key] = Sayings(unit)
                said.add(unit)
        ordered = sorted(sayings.values(), key=lambda said: said.unit.place)
        return cls(
            messages,
            names,
            tuple(
                _candidate(said, line_features(said, mine, by_atom, len(messages)), mine)
                for said in ordered
                for mine in (said_in[said.unit.place],)
            ),
            by_atom,
            worths(by_atom, len(messages), prose),
            frozenset(atom for text in target_texts for atom in atoms(text)),
            whole,
            prose,
        )


def _candidate(said: Sayings, features: tuple[float, ...], mine: tuple[str, ...]) -> Candidate:
    return Candidate(said.unit, mine, features, _section(said.unit), chance(features, LINE_WORTH))


def size(text: str) -> float:
    """Tokens, estimated, without rounding up line by line."""
    return len(text) / BYTES_PER_TOKEN if text.isascii() else estimate_tokens(text)


def _quotable(unit: Unit, key: str, mine: Iterable[str]) -> bool:
    """Of short lines only those with a name, a number, a word in writing without spaces."""
    if unit.shape == "names" or unit.text in HEADINGS:
        return False
    return len(key) >= _SHORTEST or any(is_name(atom) or not atom.isascii() for atom in mine)


def _section(unit: Unit) -> str:
    if unit.shape == "tool" or unit.role == "tool":
        return "Tools"
    return "Asked" if unit.role == "user" and unit.shape == "prose" else "Said"
