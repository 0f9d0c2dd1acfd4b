"""The rows of MergeBench: every method by name. To add one, add a line to METHODS.

Each gets the same budget. Forky's own pays for its header, its headings and its citations; the simple ones have none,
except "rarity coverage, charged", which pays ten bytes a line as if each ended in a citation.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from types import MappingProxyType

from bench.mergebench import lexrank, ours, rarity
from bench.mergebench.case import Language, Method, Turn, content, lines_of, pieces

CITATION = 10
"""Bytes of a citation: ` [3f2a91]` and a line end."""
OURS = "ours, no model"


class NoSuchMethod(ValueError):
    """A method was named as MODULE:FUNCTION and is not there."""


def fill(lines: Iterable[str], budget: float) -> list[str]:
    """As many of the lines as fit, the first first; one that does not fit is passed over."""
    kept = []
    for line in lines:
        cost = (len(line.encode()) + 1) / 4
        if cost <= budget:
            kept.append(line)
            budget -= cost
    return kept


def nothing(_trunk: Sequence[Turn], _side: Sequence[Turn], _budget: int) -> str:
    return ""


def full(_trunk: Sequence[Turn], side: Sequence[Turn], _budget: int) -> str:
    """All of the side: it pays no heed to the budget, and shows what can be had at most."""
    return content(side)


def random_lines(_trunk: Sequence[Turn], side: Sequence[Turn], budget: int) -> str:
    """Lines of the side in a random order that depends on nothing but the side."""
    lines = lines_of(side, language_of(side))
    random.Random("\n".join(lines)).shuffle(lines)
    return "\n".join(fill(lines, budget))


def last_answer(_trunk: Sequence[Turn], side: Sequence[Turn], budget: int) -> str:
    """The end of what the assistant said: as many of its last lines as fit, in the order in which they were said."""
    language = language_of(side)
    said = [turn for turn in side if turn.role == "assistant"] or list(side)
    kept: list[str] = []
    for line in reversed([piece for turn in said for piece in pieces(turn.content, language)]):
        budget -= -(-(len(line.encode()) + 1) // 4)
        if budget < 0:
            break
        kept.append(line)
    return "\n".join(reversed(kept))


def lexrank_lines(_trunk: Sequence[Turn], side: Sequence[Turn], budget: int) -> str:
    lines = tuple(lines_of(side, language_of(side)))
    return "\n".join(fill(lexrank.ranked(lines), budget))


def rarity_coverage(_trunk: Sequence[Turn], side: Sequence[Turn], budget: int, charge: int = 0) -> str:
    language = language_of(side)
    return "\n".join(rarity.covering(lines_of(side, language), budget, language, charge))


def language_of(turns: Sequence[Turn]) -> Language:
    """The language of a branch, by its signs and its small words; English where nothing speaks for another one."""
    return _guess(content(turns))


_SMALL_WORDS: Mapping[Language, frozenset[str]] = MappingProxyType({
    "en": frozenset({"the", "and", "is", "of", "to", "that", "it", "was", "with", "not", "you", "for", "have"}),
    "de": frozenset({"der", "die", "und", "ist", "nicht", "das", "ein", "wir", "mit", "auf", "für", "den", "zu"}),
    "fr": frozenset({"le", "les", "et", "est", "des", "une", "dans", "pas", "pour", "que", "sur", "nous", "du"}),
    "es": frozenset({"el", "los", "y", "es", "una", "que", "para", "con", "por", "no", "las", "del", "se"}),
})  # fmt: skip


def _guess(text: str) -> Language:
    if sum("\u4e00" <= sign <= "\u9fff" for sign in text) > len(text) / 10:
        return "zh"
    words = text.casefold().split()
    return max(_SMALL_WORDS, key=lambda language: sum(word in _SMALL_WORDS[language] for word in words))


SIMPLE: Mapping[str, Method] = MappingProxyType({
    "random lines": random_lines,
    "last answer": last_answer,
    "LexRank": lexrank_lines,
    "rarity coverage": rarity_coverage,
    "rarity coverage, charged": partial(rarity_coverage, charge=CITATION),
})  # fmt: skip
METHODS: Mapping[str, Method] = MappingProxyType({
    "nothing": nothing,
    "full text": full,
    **SIMPLE,
    OURS: ours.squash,
})  # fmt: skip
_OF_WORDFREQ = frozenset({"rarity coverage", "rarity coverage, charged"})


def available() -> tuple[dict[str, Method], str]:
    """The methods that can run here, and a sentence about those that cannot."""
    if rarity.is_there():
        return dict(METHODS), ""
    left = {name: method for name, method in METHODS.items() if name not in _OF_WORDFREQ}
    return left, "Rarity coverage is left out: wordfreq is not installed (`pip install wordfreq`)."


def named(path: str) -> Method:
    """The function that MODULE:FUNCTION names, a method of another project.

    Raises:
        NoSuchMethod: there is no such module or function.
    """
    module, _, name = path.partition(":")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise NoSuchMethod(f"{path}: {error}") from error
    if not callable(found):
        raise NoSuchMethod(f"{path} is no function.")
    method: Method = found
    return method
