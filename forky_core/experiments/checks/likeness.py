"""Checks of how similar an answer's words are to those of a reference."""

from __future__ import annotations

import re
from collections import Counter

from forky_core.experiments.checks.text_checks import text_of
from forky_core.experiments.checks.verdict import AnswerFacts, Verdict
from forky_core.model.errors import BadContent
from forky_core.model.experiment import RowCheck
from forky_core.model.parts import Json
from forky_core.text.words import WIDE

BY_WORDS = 0.5
"""The least likeness by words that passes, unless a check has a threshold."""
BY_MEANING = 0.75
"""The least likeness by an embedding model that passes, unless a check has a threshold."""
_LONGEST_EDIT = 4_000
"""The most characters of each text for counting edits, whose time grows with the product of the lengths."""
_WORD = re.compile(rf"[{WIDE}]|[^\W{WIDE}]+")
"""A word; in scripts that write no spaces, a character."""


def similar(answer: AnswerFacts, check: RowCheck, value: Json) -> Verdict:
    """The share of words that answer and reference have in common (F1): the most like of several references counts."""
    least = check.threshold if check.threshold is not None else BY_WORDS
    best = max(likeness(answer.text, reference) for reference in references(answer, value))
    return Verdict(best >= least, f"{best:.0%} of the words in common; at least {least:.0%} pass", best)


def rouge(answer: AnswerFacts, check: RowCheck, value: Json) -> Verdict:
    """The share of the reference's words that the answer has (ROUGE-1 recall)."""
    least = check.threshold if check.threshold is not None else BY_MEANING
    best = 0.0
    for reference in references(answer, value):
        wanted, used = _counted(reference), _counted(answer.text)
        best = max(best, (wanted & used).total() / max(1, wanted.total()))
    return Verdict(best >= least, f"has {best:.0%} of the reference's words; at least {least:.0%} pass", best)


def edits(answer: AnswerFacts, check: RowCheck, value: Json) -> Verdict:
    """The number of characters to change, add or remove (Levenshtein) is at most the threshold."""
    most = check.threshold if check.threshold is not None else 5
    reference = references(answer, value)[0]
    if max(len(reference), len(answer.text)) > _LONGEST_EDIT:
        raise BadContent(
            f"Edits are counted for up to {_LONGEST_EDIT:,} characters; one text is longer.",
            "Check the likeness instead.",
        )
    distance = _distance(answer.text, reference)
    return Verdict(distance <= most, f"{distance:,} edits from the reference; at most {most:,g} pass")


def references(answer: AnswerFacts, value: Json) -> tuple[str, ...]:
    """Return the texts to compare with: those of the check, or the row's reference."""
    listed = value if isinstance(value, list | tuple) else [value]
    found = tuple(text for one in listed if (text := text_of(one)).strip()) or (answer.reference,)
    if not found[0].strip() or (isinstance(value, int | float) and not isinstance(value, bool)):
        raise BadContent(
            "There is nothing to compare with.", "Give the row a reference, or the check a text."
        )
    return found


def likeness(one: str, other: str) -> float:
    """Return how similar two texts are, from 0 to 1: the F1 of their words, in any order and case."""
    first, second = _counted(one), _counted(other)
    if not first or not second:
        return float(one.strip() == other.strip())
    return 2 * (first & second).total() / (first.total() + second.total())


def _counted(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.casefold()))


def _distance(one: str, other: str) -> int:
    before = list(range(len(other) + 1))
    for at, left in enumerate(one, 1):
        row = [at]
        for place, right in enumerate(other, 1):
            row.append(min(before[place] + 1, row[-1] + 1, before[place - 1] + (left != right)))
        before = row
    return before[-1]
