"""Fuse: several answers to one question become one, F, whose context is the question and F alone.

Candidates are labelled in an order shuffled by a seed, so that no model or person prefers the first for being first;
the order is frozen in the message. Without a model nothing is rewritten: the answer that shares most with the others
comes first, then what only the others say, and the text says that it was put together by rule. Contradictions between
answers are listed with who says what, in a warning, and left to the reader; any of them can be settled. Answers that
recommend different things have to be: a text by rule never lands two verdicts. A person can pick parts of the answers
instead (picked_parts.py). Picking the best answer as it is is a promotion, and needs no message.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from forky_core.merge.claims.claim_set import Claim
from forky_core.merge.claims.conflict_resolution import VERDICT, Choice, Clash, choose
from forky_core.merge.comparison import compare_answers, compare_verdicts
from forky_core.merge.headings import ALSO_SAID, THEY_DISAGREE
from forky_core.merge.picked_parts import PickedPart, composed
from forky_core.merge.plan import MergePlan, PlannedMessage
from forky_core.merge.wording import ShortIds, message_as_text
from forky_core.model import Message, MessageId
from forky_core.model.errors import BadContent
from forky_core.model.hashing import content_hash
from forky_core.model.parts import Draft, MergePart
from forky_core.model.payload_kinds import FUSION
from forky_core.retrieval.sentences import units
from forky_core.retrieval.words import terms

LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
BY_RULE = "Put together by rule, without a model: nothing is rewritten."
COMPOSED = "Put together from the parts you picked: nothing is rewritten."
NEW = 0.5
"""The share of its terms that must be new for a sentence to be added to the best answer."""


@dataclass(frozen=True, slots=True)
class AnswerCandidate:
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
    candidates: tuple[AnswerCandidate, ...] = ()
    seed: int = 0
    disagreements: tuple[Disagreement, ...] = ()
    best: str = ""
    """The label of the candidate to promote if one answer is enough."""
    why: str = ""
    """Why that one: the rule, or the model's words."""
    forks: bool = False
    """Whether landing creates a branch, because the target's head is elsewhere."""
    parts: tuple[PickedPart, ...] = ()
    """The parts that a person picked; () if the whole answers are fused."""

    @property
    def best_message(self) -> MessageId:
        return next(one.message.id for one in self.candidates if one.label == self.best)

    @property
    def open_verdicts(self) -> tuple[Clash, ...]:
        """Different verdicts in a text by rule: they have to be settled before it lands."""
        block = self.block
        if self.by_hand or self.parts or block is None or block.made_by:
            return ()
        return tuple(one for one in self.contradictions if one.key == VERDICT and one.choice is None)

    @property
    def why_open(self) -> str:
        """Why it cannot land yet, as a sentence; "" if it can."""
        if not self.open_verdicts:
            return ""
        said = "; ".join(
            f"{one.name} says “{one.claims[0].text}”"
            for one in self.open_verdicts[0].claims_by_source
            if one.claims
        )
        return f"The answers give different verdicts: {said}."

    def resolved(self, choices: Mapping[str, Choice | None]) -> FusePlan:
        """Return the plan with these choices, by key or hash of a conflict; None opens it again.

        A text by rule is put together again: it leads with the answer whose side was taken, and what was rejected is
        left out.

        Raises:
            BadContent: there is no such conflict, or the choice cannot be made.
        """
        clashes = choose(self.contradictions, choices)
        block = self.block
        assert block is not None
        made = replace(self, contradictions=clashes, disagreements=_disagreements(_open(clashes)))
        if self.by_hand or self.parts or block.made_by:
            return made
        best = _leading(self.candidates, clashes)
        text = _union(self.candidates, best, clashes)
        made = replace(
            made,
            best=best.label,
            why=_why(best, clashes),
            warnings=(BY_RULE, *_contradicting(_open(clashes))),
        )
        again = made.with_block(replace(block, text=text))
        assert isinstance(again, FusePlan)
        return again


def plan_fuse(  # noqa: PLR0913 - each is one thing that the plan depends on
    question: Message,
    answers: Sequence[Message],
    *,
    branch: str,
    head: Message,
    count_tokens: Callable[[str], int],
    cost: Callable[[Message], int],
    seed: int | None = None,
    asked: Container[MessageId | None] = (),
    parts: Sequence[PickedPart] = (),
) -> FusePlan:
    """Plan a fusion of these answers without a model; of `parts` of them alone if a person picked some.

    `cost` returns what a message costs in a context: F takes the place of the one at the branch's head. `asked` are
    messages that ask the same as `question`, on other branches.

    Raises:
        BadContent: fewer than two answers, too many, or not all to one question; a part that its answer does not say.
    """
    distinct = list({answer.id: answer for answer in answers}.values())
    if len(distinct) < 2:
        raise BadContent("Fusing takes two answers or more.", "Regenerate, or ask several models.")
    if len(distinct) > len(LABELS):
        raise BadContent(f"At most {len(LABELS)} answers can be fused at once.", "Choose some of them.")
    same = [answer.parent == question.id or answer.parent in asked for answer in distinct]
    if not all(same) or any(answer.role != "assistant" for answer in distinct):
        raise BadContent(
            "These are not all answers to one question.", "Choose answers that stand side by side."
        )
    ordered = sorted(distinct, key=lambda answer: answer.id)
    drawn = seed if seed is not None else int(content_hash([a.id for a in ordered])[3:11], 16)
    random.Random(drawn).shuffle(ordered)  # noqa: S311 - an order, not a secret
    candidates = _labelled(ordered)
    clashes = _clashes(candidates)
    best = _leading(candidates, clashes)
    here = next((answer for answer in distinct if answer.id == head.id), None)
    ids = tuple(one.message.id for one in candidates)
    short = ShortIds.among(ids)
    text = composed(parts, distinct, short) if parts else _union(candidates, best, clashes)
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
        warnings=(COMPOSED if parts else BY_RULE, *_contradicting(clashes)),
        drafts=(PlannedMessage((question.id, *ids), Draft("assistant", (part,))),),
        short=short,
        count_tokens=count_tokens,
        contradictions=clashes,
        question=question.text,
        candidates=candidates,
        seed=drawn,
        disagreements=_disagreements(clashes),
        best=best.label,
        why=_why(best, clashes),
        forks=here is None and head.id != question.id,
        parts=tuple(parts),
    )


def _clashes(candidates: Sequence[AnswerCandidate]) -> tuple[Clash, ...]:
    """Return the contradictions between the candidates: their verdicts first, then what else they say."""
    named = [(one.label, one.message) for one in candidates]
    verdicts = compare_verdicts(named)
    quotes = {claim.quote for clash in verdicts for claim in clash.conflict.claims}
    others = (
        clash
        for clash in compare_answers(named)
        if not all(
            any(claim.quote and claim.quote in quote for quote in quotes) for claim in clash.conflict.claims
        )
    )
    return (*verdicts, *others)


def _open(clashes: Sequence[Clash]) -> tuple[Clash, ...]:
    return tuple(clash for clash in clashes if clash.choice is None)


def _leading(candidates: Sequence[AnswerCandidate], clashes: Sequence[Clash]) -> AnswerCandidate:
    """Return the candidate that shares most with the others, of those that say nothing a person rejected."""
    lost = [sum(_rejected(one.message, clash) != () for clash in clashes) for one in candidates]
    least = min(lost)
    able = [one for one, wrong in zip(candidates, lost, strict=True) if wrong == least]
    return max(able, key=lambda one: (one.shared, -ord(one.label)))


def _rejected(answer: Message, clash: Clash) -> tuple[str, ...]:
    """Return what an answer says that a person's choice rejects, word for word."""
    if clash.choice is None or clash.choice.take == "both":
        return ()
    kept = {claim.says for claim in clash.taken}
    return tuple(
        claim.quote
        for claim in clash.conflict.claims
        if claim.quote and answer.id in claim.cites and claim.says not in kept
    )


def _why(best: AnswerCandidate, clashes: Sequence[Clash]) -> str:
    if any(clash.choice is not None for clash in clashes):
        return f"{best.label} says what you decided."
    return f"{best.label} shares most with the others: {best.shared:.0%} of its words are said by another one too."


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


def _labelled(ordered: Sequence[Message]) -> tuple[AnswerCandidate, ...]:
    words = [frozenset(terms(message_as_text(answer))) for answer in ordered]
    found = []
    for at, answer in enumerate(ordered):
        others = frozenset().union(*(mine for other, mine in enumerate(words) if other != at))
        shared = len(words[at] & others) / len(words[at]) if words[at] else 0.0
        found.append(AnswerCandidate(LABELS[at], answer, shared))
    return tuple(found)


def _contradicting(clashes: Sequence[Clash]) -> tuple[str, ...]:
    """Return a sentence about the answers' contradictions; () if there are none."""
    if not clashes:
        return ()
    said = "; ".join(
        f"{one.name} says “{one.claims[0].text.rstrip('.')}”" for one in clashes[0].claims_by_source
    )
    more = len(clashes) - 1
    rest = f", and {more} more contradiction{'s' if more > 1 else ''}" if more else ""
    return (f"The answers contradict each other: {said}{rest}. Say which one holds.",)


def _union(candidates: Sequence[AnswerCandidate], best: AnswerCandidate, clashes: Sequence[Clash]) -> str:
    others = [one for one in candidates if one is not best]
    decided = "".join(
        f" Decided: {clash.result.text}." for clash in clashes if clash.result is not None
    ).replace("..", ".")
    lead = "says what was decided" if decided else "shares most with the others"
    head = (
        f"[Put together by rule from {len(candidates)} answers: {best.label}, which {lead}, then what "
        f"only the others say. Nothing was rewritten.{decided}]"
    )
    lost = [quote for clash in clashes for one in candidates for quote in _rejected(one.message, clash)]
    first = _without(message_as_text(best.message), lost)
    known = set(terms(first))
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
    parts = [head, first]
    if rows:
        parts.append("\n".join((ALSO_SAID, *rows)))
    if found := _disagreements(_open(clashes)):
        lines = (
            f"- {one.about}: {'; '.join(f'{label} says “{says}”' for label, says in one.says)}"
            for one in found
        )
        parts.append("\n".join((THEY_DISAGREE, *lines)))
    return "\n\n".join(part for part in parts if part.strip())


def _without(text: str, quotes: Sequence[str]) -> str:
    """Return an answer without the sentences that hold one of the quotes; a line that is left empty goes as well."""
    lines: list[str] = []
    for line in text.split("\n"):
        kept = line
        for quote in quotes:
            for sentence in _sentences_of(kept):
                if quote in " ".join(sentence.split()):
                    kept = kept.replace(sentence, "").strip() if sentence in kept else ""
        if kept or not line.strip():
            lines.append(kept if kept != line else line)
    return "\n".join(lines)


def _sentences_of(line: str) -> list[str]:
    return [unit.text for unit in units(line)]


def _sentences(message: Message) -> Iterator[str]:
    for unit in units(message_as_text(message)):
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
            tuple(
                sorted(
                    (one.name, _brief(claim, clash)) for one in clash.claims_by_source for claim in one.claims
                )
            ),
        )
        for clash in clashes
    )
