"""Fuse: several answers to one question become one, F, whose context is the question and F alone.

Candidates are labelled in an order shuffled by a seed, so that no model or person prefers the first for being first;
the order is frozen in the message. Without a model nothing is rewritten: the answer that shares most with the others
comes first, then what only the others say, and the text says that it was put together by rule. Contradictions between
answers are listed with who says what, in a warning, and left to the reader. Picking the best answer instead is a
promotion, and needs no message.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from forky_core.merge.claims.claim_set import Claim
from forky_core.merge.claims.conflict_resolution import Clash
from forky_core.merge.comparison import compare_answers
from forky_core.merge.headings import ALSO_SAID, THEY_DISAGREE
from forky_core.merge.plan import MergePlan, Planned
from forky_core.merge.wording import ShortIds, spoken
from forky_core.model import Message, MessageId
from forky_core.model.errors import BadContent
from forky_core.model.hashing import content_hash
from forky_core.model.parts import Draft, MergePart
from forky_core.model.payload_kinds import FUSION
from forky_core.retrieval.sentences import units
from forky_core.retrieval.words import terms

LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
NEW = 0.5
"""The share of its terms that must be new for a sentence to be added to the best answer."""


@dataclass(frozen=True, slots=True)
class Candidate:
    label: str
    message: Message
    shared: float
    """The share of its terms that another candidate has too."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A subject on which the candidates differ."""

    about: str
    says: tuple[tuple[str, str], ...]
    """(label, its statement)."""


@dataclass(frozen=True, slots=True)
class FusePlan(MergePlan):
    """A fusion before it lands. `turns` are the candidates in the order of their labels."""

    question: str = ""
    candidates: tuple[Candidate, ...] = ()
    seed: int = 0
    disagreements: tuple[Disagreement, ...] = ()
    best: str = ""
    """The label of the candidate to promote if one answer is enough."""
    why: str = ""
    """Why that one: the rule, or the model's words."""
    forks: bool = False
    """Whether landing creates a branch, because the target's head is elsewhere."""

    @property
    def best_message(self) -> MessageId:
        return next(one.message.id for one in self.candidates if one.label == self.best)


def plan_fuse(
    question: Message,
    answers: Sequence[Message],
    *,
    branch: str,
    head: Message,
    count_tokens: Callable[[str], int],
    cost: Callable[[Message], int],
    seed: int | None = None,
) -> FusePlan:
    """Plan a fusion of these answers without a model.

    `cost` returns what a message costs in a context: F takes the place of the one at the branch's head.

    Raises:
        BadContent: fewer than two answers, too many, or not all to one question.
    """
    distinct = list({answer.id: answer for answer in answers}.values())
    if len(distinct) < 2:
        raise BadContent("Fusing takes two answers or more.", "Regenerate, or ask several models.")
    if len(distinct) > len(LABELS):
        raise BadContent(f"At most {len(LABELS)} answers can be fused at once.", "Choose some of them.")
    if any(answer.parent != question.id or answer.role != "assistant" for answer in distinct):
        raise BadContent(
            "These are not all answers to one question.", "Choose answers that stand side by side."
        )
    ordered = sorted(distinct, key=lambda answer: answer.id)
    drawn = seed if seed is not None else int(content_hash([a.id for a in ordered])[3:11], 16)
    random.Random(drawn).shuffle(ordered)  # noqa: S311 - an order, not a secret
    candidates = _labelled(ordered)
    clashes = compare_answers((one.label, one.message) for one in candidates)
    best = max(candidates, key=lambda one: (one.shared, -ord(one.label)))
    here = next((answer for answer in distinct if answer.id == head.id), None)
    text = _union(candidates, best, clashes)
    ids = tuple(one.message.id for one in candidates)
    part = MergePart(FUSION.name, f"{len(ids)} answers", ids, text)
    return FusePlan(
        FUSION.name,
        "merge",
        branch,
        branch,
        head.id,
        head.id,
        delta=ids,
        bases=(question.id,),
        turns=ids,
        payload=text,
        tokens=count_tokens(text) - (cost(here) if here is not None else 0),
        tokens_full=sum(map(cost, distinct)),
        omitted=(),
        warnings=(
            "Put together by rule, without a model: nothing is rewritten.",
            *_contradicting(clashes),
        ),
        drafts=(Planned((question.id, *ids), Draft("assistant", (part,))),),
        short=ShortIds.among(ids),
        count_tokens=count_tokens,
        contradictions=clashes,
        question=question.text,
        candidates=candidates,
        seed=drawn,
        disagreements=_disagreements(clashes),
        best=best.label,
        why=f"{best.label} shares most with the others: {best.shared:.0%} of its words are said by another one too.",
        forks=here is None and head.id != question.id,
    )


def with_answer(
    plan: FusePlan, text: str, model: str, disagreements: Sequence[Disagreement], best: str, why: str
) -> FusePlan:
    """Return the fusion with an answer that a model wrote."""
    block = plan.block
    assert block is not None
    made = plan.with_block(replace(block, text=text, made_by=model))
    assert isinstance(made, FusePlan)
    return replace(
        made,
        disagreements=tuple(disagreements),
        best=best or plan.best,
        why=why or plan.why,
        warnings=_contradicting(plan.contradictions),
    )


def _labelled(ordered: Sequence[Message]) -> tuple[Candidate, ...]:
    words = [frozenset(terms(spoken(answer))) for answer in ordered]
    found = []
    for at, answer in enumerate(ordered):
        others = frozenset().union(*(mine for other, mine in enumerate(words) if other != at))
        shared = len(words[at] & others) / len(words[at]) if words[at] else 0.0
        found.append(Candidate(LABELS[at], answer, shared))
    return tuple(found)


def _contradicting(clashes: Sequence[Clash]) -> tuple[str, ...]:
    """Return a sentence about the answers' contradictions; () if there are none."""
    if not clashes:
        return ()
    said = "; ".join(f"{one.name} says “{one.claims[0].text.rstrip('.')}”" for one in clashes[0].said_by)
    more = len(clashes) - 1
    rest = f", and {more} more contradiction{'s' if more > 1 else ''}" if more else ""
    return (f"The answers contradict each other: {said}{rest}. Say which one holds.",)


def _union(candidates: Sequence[Candidate], best: Candidate, clashes: Sequence[Clash]) -> str:
    others = [one for one in candidates if one is not best]
    head = (
        f"[Put together by rule from {len(candidates)} answers: {best.label}, which shares most with the others, then what "
        "only the others say. Nothing was rewritten.]"
    )
    known = set(terms(spoken(best.message)))
    disputed = [quote for clash in clashes for claim in clash.conflict.claims if (quote := claim.quote)]
    rows: list[str] = []
    for one in others:
        for sentence in _sentences(one.message):
            mine = set(terms(sentence))
            if (
                not mine
                or len(mine - known) < NEW * len(mine)
                or any(quote in sentence for quote in disputed)
            ):
                continue
            known |= mine
            rows.append(f"- {sentence} ({one.label})")
    parts = [head, spoken(best.message)]
    if rows:
        parts.append("\n".join((ALSO_SAID, *rows)))
    if found := _disagreements(clashes):
        lines = (
            f"- {one.about}: {'; '.join(f'{label} says “{says}”' for label, says in one.says)}"
            for one in found
        )
        parts.append("\n".join((THEY_DISAGREE, *lines)))
    return "\n\n".join(part for part in parts if part.strip())


def _sentences(message: Message) -> Iterator[str]:
    for unit in units(spoken(message)):
        if unit.kind in ("sentence", "item"):
            yield " ".join(unit.text.split())


def _brief(claim: Claim, clash: Clash) -> str:
    """Return the claim's value alone if the values differ, else its text."""
    differ = len({value.says for value in clash.conflict.values}) == len(clash.conflict.values)
    return claim.value if claim.value and differ else claim.text


def _disagreements(clashes: Sequence[Clash]) -> tuple[Disagreement, ...]:
    return tuple(
        Disagreement(
            clash.key,
            tuple(sorted((one.name, _brief(claim, clash)) for one in clash.said_by for claim in one.claims)),
        )
        for clash in clashes
    )
