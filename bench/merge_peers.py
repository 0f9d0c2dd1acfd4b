"""What ours is measured against: other ways to fill the same budget.

Each gets the trunk, the side and a number of tokens, and returns lines of the side. Peers pay for their words only:
no header, no citation. That is in their favour.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from bench.merge_cases import Case, identifiers, said
from forky_core.retrieval.words import terms

Peer = Callable[[Case, int], list[str]]


def every_line(case: Case) -> list[str]:
    """Distinct lines that have a letter or a digit, in order."""
    stripped = (line.strip() for line in said(case.side).splitlines())
    return list(dict.fromkeys(line for line in stripped if any(map(str.isalnum, line))))


def fill(lines: Iterable[str], budget: int) -> list[str]:
    """As many of the lines, the first first, as fit."""
    kept, spent = [], 0.0
    for line in lines:
        cost = (len(line.encode()) + 1) / 4
        if spent + cost <= budget:
            kept.append(line)
            spent += cost
    return kept


def full(case: Case, _budget: int) -> list[str]:
    return [line.strip() for line in said(case.side).splitlines()]


def at_random(case: Case, budget: int) -> list[str]:
    lines = every_line(case)
    random.Random(f"{case.session} {len(case.trunk)}").shuffle(lines)
    return fill(lines, budget)


def tf_idf(case: Case, budget: int) -> list[str]:
    """Lines by the mean TF-IDF of their terms, messages being the documents."""
    lines = every_line(case)
    documents = [Counter(terms(message.text)) for message in (*case.trunk, *case.side)]
    holding = Counter(term for document in documents for term in document)
    here = Counter(term for message in case.side for term in terms(message.text))

    def worth(line: str) -> float:
        mine = terms(line)
        return sum(here[t] * math.log(len(documents) / max(1, holding[t])) for t in mine) / (len(mine) + 1)

    return fill(sorted(lines, key=worth, reverse=True), budget)


def last_answer(case: Case, budget: int) -> list[str]:
    """The end of the branch: its last lines, as many as fit."""
    lines = [
        line.strip()
        for message in case.side
        if message.role == "assistant"
        for line in message.text.splitlines()
    ]
    return fill(dict.fromkeys(line for line in reversed(lines) if any(map(str.isalnum, line))), budget)


def ledger(case: Case, budget: int) -> list[str]:
    """Nothing but new identifiers, the most used first."""
    texts = [identifiers(message.text) for message in case.side]
    used = Counter(name for text in texts for name in text)
    new = set(used) - identifiers(said(case.trunk))
    return fill(sorted(new, key=lambda name: (-used[name], name)), budget)


def oracle(case: Case, budget: int) -> list[str]:
    """Knows what will be needed: the bound of any choice of whole lines."""
    lines = [line for line in every_line(case) if line in case.lines]
    have = identifiers("\n".join(lines))
    rest = sorted(case.identifiers - have)
    return fill((*sorted(lines, key=len), *rest), budget)


PEERS: Mapping[str, Peer] = {
    "random": at_random,
    "TF-IDF": tf_idf,
    "last answer": last_answer,
    "identifiers only": ledger,
    "full text": full,
    "oracle": oracle,
}
