"""A squash of claims that a model read: the same plan as without one, with another text and the claims frozen in it.

Code chooses what finds room, by the importance of its type; the model only reads (reading.py). What fails a check is never repaired by guessing:
`SquashRejected` says what failed and carries the plan without a model, badged, so that the person can still merge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from forky_core.context.citing import own_sources
from forky_core.context.masking import Lookup
from forky_core.errors import ForkyError
from forky_core.merge.attribution import attribute
from forky_core.merge.block import PayloadLine, render
from forky_core.merge.claims.active_claims import active_claims, by_message
from forky_core.merge.claims.claim_set import SECTION_OF, ClaimSet, Frozen, Verbatim
from forky_core.merge.models.asking import Ask, ReadingFailed, read_with
from forky_core.merge.models.checks import Failed
from forky_core.merge.models.reading import Reading, sentences
from forky_core.merge.note.compose import default_budget
from forky_core.merge.plan import MergePlan
from forky_core.model import Message, MessageId


class SquashRejected(ForkyError):
    """The model's summary failed a check; nothing was written."""

    def __init__(self, failed: Sequence[Failed], answer: str, plan: MergePlan) -> None:
        self.failed = tuple(failed)
        self.problems = sentences(failed)
        """Sentences, each one thing that failed."""
        super().__init__("The model's summary cannot be used.", " ".join(self.problems))
        self.answer = answer
        self.plan = plan
        """The plan without a model, badged, with what failed."""


def squash_with_model(
    plan: MergePlan,
    *,
    lookup: Lookup,
    ask: Ask,
    model: str,
    focus: str = "",
    budget_tokens: int | None = None,
) -> MergePlan:
    """The squash `plan` with a payload of what `model` reads.

    Raises:
        SquashRejected: the answer failed a check, and so did the mended one.
        ModelError: from `ask`; nothing was written.
    """
    turns = attribute([lookup(id) for id in plan.turns], lookup, plan.short).messages
    budget = budget_of(plan, budget_tokens)
    try:
        reading = read_with(ask, turns, focus=focus, budget=budget)
    except ReadingFailed as error:
        raise SquashRejected(error.failed, error.answer, badged(plan, model, error.failed)) from error
    return squash_of_reading(plan, reading, lookup=lookup, model=model, budget_tokens=budget_tokens)


def budget_of(plan: MergePlan, budget_tokens: int | None) -> int:
    """Tokens of all below the header."""
    if budget_tokens is None:
        return default_budget(plan.tokens_full)
    return max(0, budget_tokens - plan.count_tokens(plan.header))


def squash_of_reading(
    plan: MergePlan, reading: Reading, *, lookup: Lookup, model: str, budget_tokens: int | None = None
) -> MergePlan:
    """The squash `plan` with a payload of what was read.

    Raises:
        SquashRejected: nothing found room, or it saves nothing over the branch itself.
    """
    turns = [lookup(id) for id in plan.turns]
    told = _Told(plan, budget_of(plan, budget_tokens))
    live = active_claims(
        turns,
        lookup=lookup,
        parents_of=lambda id: lookup(id).parents,
        extract=by_message(reading.claims),
    )
    told.fill(live, reading.verbatim)
    said = attribute(turns, lookup, plan.short).messages
    told.source(said)
    text = render(plan.header, told.lines, plan.short)
    tokens = plan.count_tokens(text)
    wrong: Failed | None = None
    if not live.claims and not reading.verbatim:
        wrong = Failed("empty", "The model found nothing worth telling.")
    elif not told.lines:
        wrong = Failed("size", "No claim of it finds room in the budget.")
    elif tokens >= plan.tokens_full:
        wrong = Failed("size", f"It is no shorter than the branch itself ({plan.tokens_full} tokens).")
    if wrong is not None:
        raise SquashRejected((wrong,), reading.to_json(), badged(plan, model, (wrong,)))
    cites = {cite for line in told.lines for cite in line.cites}
    kept = frozenset(claim for claim in live.claims if claim.text in told.texts)
    frozen = Frozen(ClaimSet(kept, live.gone), tuple(told.spans))
    block = replace(plan.squash_block(text, cites, model), claims=frozen.to_json())
    made = plan.with_block(block)
    if told.left:
        many = "1 claim" if told.left == 1 else f"{told.left} claims"
        made = replace(made, warnings=(*made.warnings, f"{many} found no room in {told.budget} tokens."))
    return made


def badged(plan: MergePlan, model: str, failed: Sequence[Failed] = ()) -> MergePlan:
    """The plan without a model, marked as what stands in for an answer that was refused."""
    badge = f"Quoted lines; the summary by {model} failed the checks."
    return replace(plan, badge=badge, failed=tuple(failed))


@dataclass(slots=True)
class _Told:
    """What finds room, the most important first."""

    plan: MergePlan
    budget: int
    lines: list[PayloadLine] = field(default_factory=list)
    texts: set[str] = field(default_factory=set)
    spans: list[Verbatim] = field(default_factory=list)
    spent: int = 0
    left: int = 0

    def fill(self, live: ClaimSet, spans: Sequence[Verbatim]) -> None:
        order = list(SECTION_OF)
        room = self.budget
        rows: list[tuple[int, PayloadLine, Verbatim | None]] = [
            (
                order.index(claim.type),
                PayloadLine(claim.text, tuple(map(MessageId, claim.cites)), SECTION_OF[claim.type]),
                None,
            )
            for claim in live.ordered
        ]
        rows += [
            (
                order.index("verbatim"),
                PayloadLine(span.span, (MessageId(span.cite),), SECTION_OF["verbatim"]),
                span,
            )
            for span in spans
            if "\n" not in span.span
        ]
        for _, line, span in sorted(rows, key=lambda row: row[0]):
            if not self._take(line, room):
                self.left += 1
            elif span is not None:
                self.spans.append(span)

    def source(self, turns: Sequence[Message]) -> None:
        """Below what an answer told that rests on passages, where those stand: its SOURCES line, word for word.

        A claim is in the model's words and seldom keeps the numbers of a citation, so the line comes whenever the
        answer has one and it finds room.
        """
        said = {turn.id: own_sources(turn.text) for turn in turns if turn.role == "assistant"}
        last = {id: at for at, line in enumerate(self.lines) for id in line.cites if said.get(id)}
        for id, at in sorted(last.items(), key=lambda one: -one[1]):
            cost = self.plan.count_tokens(f"{said[id]} [3f2a91]\n")
            if self.spent + cost <= self.budget:
                self.spent += cost
                self.lines.insert(at + 1, PayloadLine(said[id], (id,), self.lines[at].section, quoted=True))

    def _take(self, line: PayloadLine, room: int) -> bool:
        cost = self.plan.count_tokens(f"- {line.text} {'[3f2a91] ' * len(line.cites)}\n")
        if self.spent + cost > room:
            return False
        self.spent += cost
        self.texts.add(line.text)
        self.lines.append(line)
        return True
