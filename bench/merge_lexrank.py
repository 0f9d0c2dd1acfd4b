"""sumy's LexRank as a peer; apart from the others, since only `make bench` installs sumy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sumy.models.dom import ObjectDocumentModel, Paragraph, Sentence
from sumy.summarizers.lex_rank import LexRankSummarizer

from bench.merge_cases import Case
from bench.merge_peers import every_line, fill
from forky_core.retrieval.words import terms


class _Cut:
    """sumy's tokenizer by our own rule for terms: its own downloads a model."""

    def to_words(self, text: str) -> tuple[str, ...]:
        return terms(text)

    def to_sentences(self, text: str) -> tuple[str, ...]:
        return tuple(text.splitlines())


@lru_cache(maxsize=256)
def _ranked(lines: tuple[str, ...]) -> tuple[str, ...]:
    """By sumy's LexRank, the most central line first."""
    cut = _Cut()
    document = ObjectDocumentModel([Paragraph([Sentence(line, cut) for line in lines])])
    found: list[str] = []

    def all_of_them(rated: Sequence[Any]) -> Sequence[Any]:
        found.extend(str(one.sentence) for one in rated)
        return rated

    LexRankSummarizer()(document, all_of_them)
    return tuple(found)


def lexrank(case: Case, budget: int) -> list[str]:
    """sumy's LexRank over the lines, which are its sentences."""
    lines = tuple(line for line in every_line(case) if terms(line))
    return fill(_ranked(lines) if len(lines) > 1 else lines, budget)
