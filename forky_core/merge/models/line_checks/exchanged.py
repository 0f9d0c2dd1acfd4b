"""Words that changed places: “Rita at the school and Tom at the harbour”, where the branch says it the other way round.

Only words that stand in a single clause of the cited messages tell where they belong, so that what is said of several
things at once does no harm.
"""

from __future__ import annotations

import re
from itertools import combinations, pairwise

from forky_core.merge.headings import TRIED
from forky_core.merge.models.line_checks.denials import CONTRAST
from forky_core.merge.models.line_checks.evidence import Evidence, weighed
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.statements import Clause, Sentence

_LIST_SIGN = re.compile(r"[,;，；、]\s*$")
_SHORT = 3
"""Words of a clause in an enumeration, at most: “drinks Oliver, tents Ludger”."""


def exchanged_words(line: NoteLine, here: Evidence) -> str | None:
    """A line whose clauses each join words of two clauses of the branch that belong to different things."""
    if line.section == TRIED:
        return None
    homes = _homes(here)
    for part in here.parts:
        if CONTRAST.search(part):
            continue
        told = [_by_home(clause, homes) for clause in Sentence(part).clauses]
        for one, two in combinations(told, 2):
            for a, b in combinations(sorted(one.keys() & two.keys()), 2):
                if _distinct(one, two, a, b):
                    return f"It swaps what is said of one and of another: “{_clauses(here)[a].text[:120]}”."
        for a, b in _enumerated(here):
            if any(_blends(mine, a, b, homes, weighed(part)) for mine in told):
                return f"It joins what is said of different things: “{_clauses(here)[a].text[:120]}”."
    return None


def _clauses(here: Evidence) -> list[Clause]:
    return [clause for one in here.sources if not one.code for clause in one.clauses]


def _homes(here: Evidence) -> dict[str, int]:
    """The number of the clause of each word that stands in one clause of the cited messages only."""
    found: dict[str, int] = {}
    several: set[str] = set()
    for at, clause in enumerate(_clauses(here)):
        for word in weighed(clause.text):
            if found.setdefault(word, at) != at:
                several.add(word)
    return {word: at for word, at in found.items() if word not in several}


def _by_home(clause: Clause, homes: dict[str, int]) -> dict[int, frozenset[str]]:
    """The words of a clause of the line, by the clause of the branch that they stand in."""
    found: dict[int, set[str]] = {}
    for word in weighed(clause.text):
        if word in homes:
            found.setdefault(homes[word], set()).add(word)
    return {at: frozenset(words) for at, words in found.items()}


def _distinct(one: dict[int, frozenset[str]], two: dict[int, frozenset[str]], a: int, b: int) -> bool:
    """Whether each of two clauses of the line has words of its own from both clauses of the branch."""
    return one[a].isdisjoint(two[a]) and one[b].isdisjoint(two[b])


def _enumerated(here: Evidence) -> list[tuple[int, int]]:
    """Neighbouring short clauses of one sentence that each have two words or more."""
    found: list[tuple[int, int]] = []
    at = 0
    for one in here.sources:
        if one.code:
            continue
        places = range(at, at + len(one.clauses))
        at += len(one.clauses)
        for (a, mine), (b, other) in pairwise(zip(places, one.clauses, strict=True)):
            short = all(2 <= len(clause.words) <= _SHORT for clause in (mine, other))
            if short and _LIST_SIGN.search(one.text[one.text.find(mine.text) : one.text.find(other.text)]):
                found.append((a, b))
    return found


def _blends(
    mine: dict[int, frozenset[str]], a: int, b: int, homes: dict[str, int], part: frozenset[str]
) -> bool:
    """Whether a clause of the line takes one word of each of two enumerated clauses, and leaves the others out."""
    if a not in mine or b not in mine:
        return False
    rest = [{word for word, at in homes.items() if at == place and word not in part} for place in (a, b)]
    return all(rest)
