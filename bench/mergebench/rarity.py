"""Word-rarity coverage: lines chosen greedily by the rare words in them that nothing chosen has yet, for their length.

A word is worth −log of its frequency in the language; frequencies are wordfreq's (code Apache 2.0, data CC BY-SA 4.0),
which only this benchmark uses. The chosen lines stand in the order in which they were said.
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from bench.mergebench.case import Language
from forky_core.text.words import terms

UNKNOWN = 1e-8
"""The frequency of a word that the list does not hold."""
UNKNOWN_PAIR = 1e-4
"""The same for two Chinese signs side by side, which often are the end of one word and the beginning of the next."""
_WORD = re.compile(r"[\u4e00-\u9fff]+|[^\W\u4e00-\u9fff]+(?:['’\-._][^\W\u4e00-\u9fff]+)*")


def is_there() -> bool:
    """Whether wordfreq is installed."""
    return find_spec("wordfreq") is not None


@cache
def _frequencies(language: Language) -> Mapping[str, float]:
    found: Mapping[str, float] = import_module("wordfreq").get_frequency_dict(language)
    return found


def worths(line: str, language: Language) -> dict[str, float]:
    """−log of the frequency of each content word of a line, by its stem."""
    known = _frequencies(language)
    found: dict[str, float] = {}
    for word in _WORD.findall(line.casefold().replace("’", "'")):
        for term in terms(word):
            wide = term[0] >= "\u4e00"
            frequency = known.get(term if wide else word, 0) or known.get(term, 0)
            found[term] = -math.log(frequency or (UNKNOWN_PAIR if wide else UNKNOWN))
    return found


def covering(lines: Sequence[str], budget: float, language: Language, charge: int = 0) -> list[str]:
    """The chosen lines; `charge` are bytes that each costs beside its own, as a citation would."""
    words = [worths(line, language) for line in lines]
    costs = [(len(line.encode()) + 1 + charge) / 4 for line in lines]
    covered: set[str] = set()

    def gain(at: int) -> float:
        return sum(value for term, value in words[at].items() if term not in covered) / costs[at]

    chosen: list[int] = []
    heap = [(-gain(at), at) for at in range(len(lines))]
    heapq.heapify(heap)
    while heap:
        _, at = heapq.heappop(heap)
        now = -gain(at)
        if costs[at] > budget or now == 0:
            continue
        if heap and (now, at) > heap[0]:
            heapq.heappush(heap, (now, at))
            continue
        chosen.append(at)
        covered.update(words[at])
        budget -= costs[at]
    return [lines[at] for at in sorted(chosen)]
