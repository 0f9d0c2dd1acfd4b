"""What several answers claim, whatever words they use: where they agree, where they contradict, what one says alone.

The claims are those that merging compares (merge/claims): clauses with what they are about, their values and whether
they deny. Contradictions are found by merging's own rules, so Compare and a merge never disagree about one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Literal

from forky_core.merge.claims.contradictions import contradictions
from forky_core.merge.claims.pieces import Clause, pieces
from forky_core.merge.claims.word_keys import word_keys
from forky_core.merge.comparison import MOST_CHARACTERS, compare_verdicts
from forky_core.model import Message

AgreementKind = Literal["contradict", "agree", "only"]

MOST_CLAIMS = 400
"""The most claims of one answer that are compared."""
ALIKE_WORDS = 0.5
"""The share of content words in common from which two clauses claim the same."""


@dataclass(frozen=True, slots=True)
class ClaimedPoint:
    """One point that answers make, with each answer's own words."""

    kind: AgreementKind
    about: str
    """The subject of a contradiction, in a few words; "" for any other."""
    says: tuple[tuple[int, str], ...]
    """The index of an answer, and what it says."""


@dataclass(frozen=True, slots=True)
class ClaimAgreement:
    points: tuple[ClaimedPoint, ...]
    """Contradictions first, then what several say, then what one says alone; each in the order of the answers."""
    cut: bool
    """Whether an answer was too long for all its claims to be compared."""

    def of(self, kind: AgreementKind) -> tuple[ClaimedPoint, ...]:
        return tuple(point for point in self.points if point.kind == kind)


def agreement(answers: Sequence[Message | None], question: Message | None, base: int) -> ClaimAgreement:
    """Compare the claims of answers to a question.

    Contradictions are those with the answer at `base`; None is an answer that is not there.
    """
    return _agreement(tuple(answers), question, base)


@lru_cache(maxsize=32)
def _agreement(answers: tuple[Message | None, ...], question: Message | None, base: int) -> ClaimAgreement:
    """Cached, because answers never change and a page is drawn often."""
    there = [
        at for at, answer in enumerate(answers) if answer is not None and len(answer.text) <= MOST_CHARACTERS
    ]
    cut = any(answer is not None and len(answer.text) > MOST_CHARACTERS for answer in answers)
    clauses = {at: _claims(answers[at], question) for at in there}
    cut = cut or any(len(found) >= MOST_CLAIMS for found in clauses.values())
    torn = list(_contradicting(answers, question, base, there))
    disputed = {(at, text) for point in torn for at, text in point.says}
    groups = _groups([(at, clause) for at in there for clause in clauses[at]])
    agreed: list[ClaimedPoint] = []
    alone: list[ClaimedPoint] = []
    for group in groups:
        says = {at: clause.text for at, clause in reversed(group) if (at, clause.text) not in disputed}
        if len(says) > 1:
            agreed.append(ClaimedPoint("agree", "", tuple(sorted(says.items()))))
        else:
            alone += (ClaimedPoint("only", "", (one,)) for one in says.items())
    return ClaimAgreement((*torn, *agreed, *sorted(alone, key=lambda point: point.says[0][0])), cut)


def _claims(answer: Message | None, question: Message | None) -> list[Clause]:
    """Return the clauses of an answer that stand and say enough to be compared."""
    if answer is None:
        return []
    found = pieces((answer,), before=question)
    prose = (clause for clause in found if clause.passage.shape not in ("code", "call", "output", "removed"))
    return [one for one in prose if one.standing == "stands" and (len(one.own) > 1 or one.quantities)][
        :MOST_CLAIMS
    ]


def _contradicting(
    answers: Sequence[Message | None], question: Message | None, base: int, there: Sequence[int]
) -> Iterator[ClaimedPoint]:
    said = [(str(at), answer) for at in there if (answer := answers[at]) is not None]
    for clash in compare_verdicts(said):
        says = ((int(one.name), claim.quote) for one in clash.claims_by_source for claim in one.claims)
        yield ClaimedPoint("contradict", clash.key, tuple(sorted(says)))
    mine = answers[base] if base in there else None
    found: dict[tuple[str, str], dict[int, str]] = {}
    for at in there if mine is not None else ():
        other = answers[at]
        if at == base or other is None or mine is None or other.id == mine.id:
            continue
        for one in contradictions((mine,), (other,), before=(question, question)):
            # Clauses that only the words around them make comparable convince nobody who reads them side by side.
            if not set(word_keys(one.mine.quote)).isdisjoint(word_keys(one.theirs.quote)):
                found.setdefault((one.key, one.mine.quote), {base: one.mine.quote})[at] = one.theirs.quote
    for (key, _), says_of in found.items():
        yield ClaimedPoint("contradict", key, tuple(sorted(says_of.items())))


def _groups(claims: Sequence[tuple[int, Clause]]) -> list[list[tuple[int, Clause]]]:
    """Return the claims in groups that say the same, in the order of their first ones."""
    parent = list(range(len(claims)))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    holding: dict[str, list[int]] = {}
    for at, (_, clause) in enumerate(claims):
        for word in clause.own:
            holding.setdefault(word, []).append(at)
    for pair in {pair for held in holding.values() for pair in combinations(held[:64], 2)}:
        (one, mine), (other, theirs) = claims[pair[0]], claims[pair[1]]
        if one != other and _same(mine, theirs):
            parent[max(map(root, pair))] = min(map(root, pair))
    groups: dict[int, list[tuple[int, Clause]]] = {}
    for at, claim in enumerate(claims):
        groups.setdefault(root(at), []).append(claim)
    return list(groups.values())


def _same(one: Clause, other: Clause) -> bool:
    """Whether two clauses claim the same: enough words in common, the same values, and both or none deny it."""
    if one.sign != other.sign:
        return False
    both = len(one.own & other.own)
    if one.quantities or other.quantities:
        same = any(a.same(b) for a in one.quantities for b in other.quantities)
        return same and both > 0 and len(one.quantities) == len(other.quantities)
    return both > 1 and both >= ALIKE_WORDS * len(one.own | other.own)
