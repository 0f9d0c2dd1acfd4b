"""Checks for words that changed places: “Rita at the school and Tom at the harbour” where the branch has it the other
way round.

Only words that stand in a single clause of the cited messages show where they belong, so that a word that applies to
several things at once does no harm.
"""

from __future__ import annotations

import re
from itertools import combinations, pairwise

from forky_core.merge.claims.cues import SETS_AGAINST
from forky_core.merge.headings import TRIED
from forky_core.merge.models.line_checks.evidence import Evidence, weighed
from forky_core.merge.models.note_answer import NoteLine
from forky_core.merge.models.numbers import numbers
from forky_core.merge.models.statements import CheckedSentence, SentenceClause
from forky_core.retrieval.words import stem, terms

_LIST_SIGN = re.compile(r"[,;，；、]\s*$")
_CAPITAL = re.compile(r"(?<=\w )[A-ZÄÖÜÉ]\w|`")
_LONGER = 6
"""The most words of a first clause whose verb the next one leaves out: “Ann pays in May, Tom in June”."""
_SHORT = 4
"""The most words of a clause in an enumeration: “drinks Oliver, tents Ludger”."""


def exchanged_words(line: NoteLine, here: Evidence) -> str | None:
    """Reject a line whose clauses each join words of two clauses of the branch that belong to different things."""
    if line.section == TRIED:
        return None
    for part in here.parts:
        if SETS_AGAINST.search(part):
            continue
        mine = [(clause, _without_units(clause)) for clause in CheckedSentence(part).clauses]
        for one in (one for one in here.sources if not one.code and len(one.clauses) > 1):
            homes = _homes(one)
            told = [_by_home(words, homes) for _, words in mine]
            for first, second in combinations(told, 2):
                for a, b in combinations(sorted(first.keys() & second.keys()), 2):
                    if _cross(first, second, a, b, here):
                        return f"It swaps what is said of one and of another: “{one.text[:120]}”."
            for clause, words in mine:
                if not here.transcript.unspaced and _regrouped(words, clause, one, homes):
                    return f"It gives to one what is said of another: “{one.text[:120]}”."
            for a, b in _enumerated(one):
                if any(_blends(by, a, b, homes, here) for by in told):
                    return f"It joins what is said of different things: “{one.text[:120]}”."
    return None


def _without_units(clause: SentenceClause) -> frozenset[str]:
    """Return the words of a clause without the units of its numbers, which may belong to anything."""
    return weighed(clause.text) - {stem(number.unit) for number in clause.numbers if number.unit}


def _homes(one: CheckedSentence) -> dict[str, int]:
    """Map each word that stands in only one clause of the sentence to the index of that clause."""
    found: dict[str, int] = {}
    several: set[str] = set()
    for at, clause in enumerate(one.clauses):
        for word in weighed(clause.text):
            if found.setdefault(word, at) != at:
                several.add(word)
    return {word: at for word, at in found.items() if word not in several}


def _by_home(words: frozenset[str], homes: dict[str, int]) -> dict[int, frozenset[str]]:
    """Group the words of a clause of the line by the clause of the branch that they stand in."""
    found: dict[int, set[str]] = {}
    for word in words:
        if word in homes:
            found.setdefault(homes[word], set()).add(word)
    return {at: frozenset(words) for at, words in found.items()}


def _cross(
    one: dict[int, frozenset[str]], two: dict[int, frozenset[str]], a: int, b: int, here: Evidence
) -> bool:
    """Whether each of two clauses of the line joins words that no clause of the branch joins."""
    if not (one[a].isdisjoint(two[a]) and one[b].isdisjoint(two[b])):
        return False
    return not (_together(one[a], one[b], here) or _together(two[a], two[b], here))


def _together(some: frozenset[str], others: frozenset[str], here: Evidence) -> bool:
    """Whether a clause of the cited messages has a word of each set."""
    return any(
        not some.isdisjoint(words) and not others.isdisjoint(words)
        for one in here.sources
        for words in (weighed(clause.text) for clause in one.clauses)
    )


def _enumerated(one: CheckedSentence) -> list[tuple[int, int]]:
    """Return neighbouring short clauses of a sentence that each give a value to something: “drinks Oliver, tents
    Ludger”.
    """
    found: list[tuple[int, int]] = []
    for (a, mine), (b, other) in pairwise(enumerate(one.clauses)):
        short = 2 <= len(mine.text.split()) <= _LONGER and 2 <= len(other.text.split()) <= _SHORT
        told = all(_CAPITAL.search(f"and {clause.text}") or numbers(clause.text) for clause in (mine, other))
        between = one.text[one.text.find(mine.text) : one.text.find(other.text)]
        if short and told and _LIST_SIGN.search(between):
            found.append((a, b))
    return found


def _regrouped(
    words: frozenset[str], told: SentenceClause, one: CheckedSentence, homes: dict[str, int]
) -> bool:
    """Whether a clause of the line takes its subject from one clause of a sentence and its number from another.

    Both clauses have a subject and a number of their own: “the sleeper is 129, the flight 98”.
    """
    subjects = {at: next(iter(terms(clause.text)), "") for at, clause in enumerate(one.clauses)}
    for b, clause in enumerate(one.clauses):
        subject = subjects[b]
        gapped = len(clause.text.split()) <= _SHORT and clause.numbers
        if not gapped or not subject or homes.get(subject) != b or subject not in words:
            continue
        if any(number.same_value(other) for number in clause.numbers for other in told.numbers):
            continue
        for a, other in enumerate(one.clauses):
            taken = any(number.same_value(mine) for number in other.numbers for mine in told.numbers)
            if a != b and taken and subjects[a] and subjects[a] not in words and homes.get(subjects[a]) == a:
                return True
    return False


def _blends(mine: dict[int, frozenset[str]], a: int, b: int, homes: dict[str, int], here: Evidence) -> bool:
    """Whether a clause of the line takes one word of each of two enumerated clauses, and leaves the others out."""
    if a not in mine or b not in mine or _together(mine[a], mine[b], here):
        return False
    return all({word for word, at in homes.items() if at == place} - mine[place] for place in (a, b))
