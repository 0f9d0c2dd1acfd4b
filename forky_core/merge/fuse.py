"""Fuse: several answers to one question become one, F, whose context is the question and F alone.

Candidates are labelled in an order shuffled by a seed, so that no model or person prefers the first for being first;
the order is frozen in the message. Without a model nothing is rewritten: the answer that shares most with the others
comes first, then what only the others say, and the text says that it was put together by rule. Where answers disagree,
as a model that has examined them says, or possibly, as rules say, is listed with who says what, and left to the reader;
any of it can be settled. A person can pick parts of the answers instead (picked_parts.py). Picking the best answer as
it is is a promotion, and needs no message.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from forky_core.context.convert import message_as_text
from forky_core.merge.conflicts.conflict import Choice, ComparedSide, Conflict, choose, of_answers
from forky_core.merge.conflicts.examination import LABELS, Examination
from forky_core.merge.conflicts.rules import possible_conflicts
from forky_core.merge.headings import ALSO_SAID, THEY_DISAGREE
from forky_core.merge.picked_parts import PickedPart, composed
from forky_core.merge.plan import MergePlan, PlannedMessage
from forky_core.merge.wording import ShortIds
from forky_core.model import Message, MessageId
from forky_core.model.errors import BadContent
from forky_core.model.hashing import content_hash
from forky_core.model.parts import Draft, MergePart
from forky_core.model.payload_kinds import FUSION
from forky_core.text.sentences import units
from forky_core.text.words import terms

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
class FusePlan(MergePlan):
    """A fusion before it lands. `turns` are the candidates in the order of their labels."""

    question: str = ""
    candidates: tuple[AnswerCandidate, ...] = ()
    seed: int = 0
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
    def unresolved(self) -> tuple[Conflict, ...]:
        """What the candidates disagree on and nobody has settled."""
        return tuple(one for one in self.conflicts if one.choice is None)

    def resolved(self, choices: Mapping[str, Choice | None]) -> FusePlan:
        """Return the plan with these choices, by subject or hash of a conflict; None opens it again.

        A text by rule is put together again: it leads with the answer whose side was taken, and what was rejected is
        left out.

        Raises:
            BadContent: there is no such conflict, or the choice cannot be made.
        """
        conflicts = choose(self.conflicts, choices)
        block = self.block
        assert block is not None
        made = replace(self, conflicts=conflicts)
        if self.by_hand or self.parts or block.made_by:
            return made
        best = _leading(self.candidates, conflicts)
        again = replace(
            made,
            best=best.label,
            why=_why(best, conflicts),
            warnings=(BY_RULE, *_warnings(made.unresolved)),
        ).with_block(replace(block, text=_union(self.candidates, best, conflicts)))
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
    examined: Callable[[Sequence[ComparedSide]], Examination | None] = lambda _sides: None,
) -> FusePlan:
    """Plan a fusion of these answers without a model; of `parts` of them alone if a person picked some.

    `cost` returns what a message costs in a context: F takes the place of the one at the branch's head. `asked` are
    messages that ask the same as `question`, on other branches. `examined` returns what a model has found in the
    answers.

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
    sides = of_answers((one.label, one.message) for one in candidates)
    found = examined(sides)
    conflicts = possible_conflicts(sides) if found is None else found.conflicts
    best = _leading(candidates, conflicts)
    here = next((answer for answer in distinct if answer.id == head.id), None)
    ids = tuple(one.message.id for one in candidates)
    short = ShortIds.among(ids)
    text = composed(parts, distinct, short) if parts else _union(candidates, best, conflicts)
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
        warnings=(COMPOSED if parts else BY_RULE, *_warnings(conflicts)),
        drafts=(PlannedMessage((question.id, *ids), Draft("assistant", (part,))),),
        short=short,
        count_tokens=count_tokens,
        conflicts=conflicts,
        compared=sides,
        examined_by=found.model if found is not None else "",
        question=question.text,
        candidates=candidates,
        seed=drawn,
        best=best.label,
        why=_why(best, conflicts),
        forks=here is None and head.id != question.id,
        parts=tuple(parts),
    )


def _leading(candidates: Sequence[AnswerCandidate], conflicts: Sequence[Conflict]) -> AnswerCandidate:
    """Return the candidate that shares most with the others, of those that say nothing a person rejected."""
    lost = [sum(bool(_rejected(one.message, conflict)) for conflict in conflicts) for one in candidates]
    able = [one for one, wrong in zip(candidates, lost, strict=True) if wrong == min(lost)]
    return max(able, key=lambda one: (one.shared, -ord(one.label)))


def _rejected(answer: Message, conflict: Conflict) -> list[str]:
    """Return what an answer says that a person's choice rejects, word for word."""
    return [one.text for one in conflict.rejected if one.message == answer.id]


def _why(best: AnswerCandidate, conflicts: Sequence[Conflict]) -> str:
    if any(one.choice is not None for one in conflicts):
        return f"{best.label} says what you decided."
    return f"{best.label} shares most with the others: {best.shared:.0%} of its words are said by another one too."


def with_answer(plan: FusePlan, text: str, model: str) -> FusePlan:
    """Return the fusion with an answer that a model wrote."""
    block = plan.block
    assert block is not None
    made = plan.with_block(replace(block, text=text, made_by=model))
    assert isinstance(made, FusePlan)
    return replace(made, warnings=_warnings(plan.conflicts))


def _labelled(ordered: Sequence[Message]) -> tuple[AnswerCandidate, ...]:
    words = [frozenset(terms(message_as_text(answer))) for answer in ordered]
    found = []
    for at, answer in enumerate(ordered):
        others = frozenset().union(*(mine for other, mine in enumerate(words) if other != at))
        shared = len(words[at] & others) / len(words[at]) if words[at] else 0.0
        found.append(AnswerCandidate(LABELS[at], answer, shared))
    return tuple(found)


def _said(conflict: Conflict) -> str:
    return "; ".join(f"{one.side} says “{one.text.rstrip('.')}”" for one in conflict.says)


def _warnings(conflicts: Sequence[Conflict]) -> tuple[str, ...]:
    """Return a sentence about the answers' conflicts; () if there are none."""
    if not conflicts:
        return ()
    first, *more = conflicts
    rest = f", and there are {len(more)} more" if more else ""
    what = "The answers may contradict each other" if first.possible else "The answers contradict each other"
    return (f"{what}: {_said(first)}{rest}. Say which one holds.",)


def _union(
    candidates: Sequence[AnswerCandidate], best: AnswerCandidate, conflicts: Sequence[Conflict]
) -> str:
    others = [one for one in candidates if one is not best]
    decided = "".join(f" Decided: {one.result}." for one in conflicts if one.choice is not None).replace(
        "..", "."
    )
    lead = "says what was decided" if decided else "shares most with the others"
    head = (
        f"[Put together by rule from {len(candidates)} answers: {best.label}, which {lead}, then what "
        f"only the others say. Nothing was rewritten.{decided}]"
    )
    lost = [one.text for conflict in conflicts for one in conflict.rejected]
    first = _without(message_as_text(best.message), lost)
    known = set(terms(first))
    disputed = [text for conflict in conflicts for text in conflict.texts]
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
    if found := [one for one in conflicts if one.choice is None]:
        lines = (f"- {one.about}: {'possibly: ' if one.possible else ''}{_said(one)}" for one in found)
        parts.append("\n".join((THEY_DISAGREE, *lines)))
    return "\n\n".join(part for part in parts if part.strip())


def _without(text: str, quotes: Sequence[str]) -> str:
    """Return an answer without the sentences that hold one of the quotes; a line that is left empty goes as well."""
    lines: list[str] = []
    for line in text.split("\n"):
        kept = line
        for quote in quotes:
            for sentence in [unit.text for unit in units(kept)]:
                if quote in " ".join(sentence.split()):
                    kept = kept.replace(sentence, "").strip() if sentence in kept else ""
        if kept or not line.strip():
            lines.append(kept if kept != line else line)
    return "\n".join(lines)


def _sentences(message: Message) -> Iterator[str]:
    for unit in units(message_as_text(message)):
        if unit.kind in ("sentence", "item"):
            yield " ".join(unit.text.split())
