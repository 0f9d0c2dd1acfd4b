"""How likely it is that what follows a merge will need a line, or a name, of the branch again.

Two logistic regressions. Their coefficients were fitted by `python -m bench.merge_training` on the development split of
the hindsight benchmark (sessions with even numbers; docs/design/what-a-squash-keeps.md has the method and what each
idea gave), and every feature is one a person would look at: who said it, in how many messages it stands, how late, how
long it is. Nothing is specific to one program's log. A name means here whatever `units.is_named` says; other words
and pairs of signs weigh a fixed part of it, which is what prose lives on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from forky_core.merge.lines.units import Unit, is_name, is_named

LINE_FEATURES = (
    "bias",
    "the person",
    "a tool",
    "code",
    "ln messages",
    "recency",
    "ln characters",
    "under 16 characters",
    "ln messages of its most used name",
    "code × ln messages",
    "tool × ln messages",
)
LINE_WORTH = (
    -0.17,
    -0.89,
    0.57,
    0.79,
    2.62,
    1.49,
    -1.05,
    -0.80,
    0.29,
    -1.66,
    -1.20,
)
NAME_FEATURES = (
    "bias",
    "ln messages",
    "the person",
    "an answer",
    "only tools",
    "1 / messages from the end",
    "dot",
    "underscore",
    "inner capital",
    "digit",
    "ln characters",
)
NAME_WORTH = (
    -2.41,
    0.73,
    1.51,
    0.93,
    0.60,
    1.67,
    0.33,
    0.50,
    0.84,
    -0.93,
    -0.46,
)
OLD_NEWS = 0.15
"""Of a name's worth, what is left when the target has it already."""
IN_FOCUS = 3.0
"""Times which a name is worth that the person asked for."""
_CAPITALISED = 0.35
"""Of a name's worth, that of a capitalised word, of a short number."""
_PAIR = 0.05
"""That of two signs of a writing without spaces."""
_PROPER = 0.7
"""Beside a name's or a number's one, what a word says that is never written small."""
_UNSPACED_PAIR = 0.02
_INNER_CAPITAL = re.compile("[a-z][A-Z]")


@dataclass(slots=True)
class Uses:
    """Where one atom stands in the branch."""

    turns: list[int] = field(default_factory=list)
    """Numbers of its messages, each once."""
    roles: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Sayings:
    """Where one line stands in the branch."""

    unit: Unit
    """The last place."""
    messages: int = 0
    roles: set[str] = field(default_factory=set)

    def add(self, unit: Unit) -> None:
        """`unit` says it, after all others."""
        if not self.messages or unit.turn != self.unit.turn:
            self.messages += 1
        self.unit = unit
        self.roles.add(unit.role)


def uses(found: Sequence[Unit], said_in: Sequence[Sequence[str]]) -> dict[str, Uses]:
    """Every atom of the units."""
    by_atom: dict[str, Uses] = {}
    for unit, mine in zip(found, said_in, strict=True):
        for atom in mine:
            use = by_atom.get(atom)
            if use is None:
                use = by_atom[atom] = Uses()
            if not use.turns or use.turns[-1] != unit.turn:
                use.turns.append(unit.turn)
                use.roles.add(unit.role)
    return by_atom


def name_features(atom: str, use: Uses, turns: int) -> tuple[float, ...]:
    """In the order of NAME_FEATURES, for a branch of so many messages."""
    return (
        1.0,
        math.log(len(use.turns)),
        float("user" in use.roles),
        float("assistant" in use.roles),
        float(use.roles == {"tool"}),
        1 / (turns - use.turns[-1]),
        float("." in atom),
        float("_" in atom),
        float(_INNER_CAPITAL.search(atom) is not None),
        float(any(character.isdigit() for character in atom)),
        math.log(len(atom)),
    )


def line_features(
    line: Sayings, mine: Iterable[str], by_atom: Mapping[str, Uses], turns: int
) -> tuple[float, ...]:
    """In the order of LINE_FEATURES; `mine` are its atoms."""
    # “Thank you!” is repeated as well: among plain words, to recur is no sign of being needed.
    messages = math.log(line.messages) if any(map(is_named, mine)) else 0.0
    code, tool = float(line.unit.shape == "code"), float("tool" in line.roles)
    return (
        1.0,
        float("user" in line.roles),
        tool,
        code,
        messages,
        line.unit.turn / max(1, turns - 1),
        math.log(len(line.unit.text)),
        float(len(line.unit.text) < 16),
        math.log(max((len(by_atom[atom].turns) for atom in mine), default=1)),
        code * messages,
        tool * messages,
    )


def chance(features: Sequence[float], coefficients: Sequence[float]) -> float:
    """Between 0 and 1."""
    return 1 / (1 + math.exp(-sum(map(float.__mul__, features, coefficients))))


def worths(by_atom: Mapping[str, Uses], turns: int, prose: float) -> dict[str, float]:
    """Of every atom, its part of what all are worth.

    The chances were learned where people write programs. The more a branch is nothing but `prose`, the more it counts
    instead that something is named or counted at all.
    """
    learned = {
        atom: _kind(atom, len(use.turns)) * chance(name_features(atom, use, turns), NAME_WORTH)
        for atom, use in by_atom.items()
    }
    stated = {atom: _stated(atom, by_atom) for atom in by_atom}
    of_learned = (1 - prose) / (sum(learned.values()) or 1.0)
    of_stated = prose / (sum(stated.values()) or 1.0)
    return {atom: learned[atom] * of_learned + stated[atom] * of_stated for atom in by_atom}


def _stated(atom: str, by_atom: Mapping[str, Uses]) -> float:
    """How much an atom says by itself: a name or a number, a word that is never written small, a pair of signs."""
    if is_named(atom) or any(map(str.isdigit, atom)):
        return 1.0
    if not atom.isascii() and not atom[0].isupper():
        return _UNSPACED_PAIR
    return _PROPER if atom[0].isupper() and len(atom) > 2 and atom.lower() not in by_atom else 0.0


def _kind(atom: str, messages: int) -> float:
    """How much of a name an atom is that stands in so many messages.

    Plain words and pairs of signs tell the less, the more messages have them.
    """
    if is_named(atom):
        return 1.0
    if is_name(atom) or atom[0].isupper():
        return _CAPITALISED
    return (_word(atom) if len(atom) > 2 else _PAIR) / messages


@lru_cache(maxsize=65_536)
def _word(word: str) -> float:
    """Long words tell more than short ones; those of up to three letters nothing."""
    return 0.0 if len(word) < 4 else min(0.25, 0.03 * (len(word) - 3))
