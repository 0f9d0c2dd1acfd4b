"""What asking models to write a merge would cost at most, known before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from forky_core.context.masking import Lookup
from forky_core.conversation.merging.note_writing import SO_FAR, pieces
from forky_core.llm.contract import Model, ModelInfo, ProviderMessage
from forky_core.merge.plan import MergePlan
from forky_core.merge.written.note import VERIFIED_CHARACTERS
from forky_core.merge.written.plan import material_of, note_room, target_view
from forky_core.merge.written.requests import Limit, known_turns, note_request
from forky_core.merge.written.verifier import verify_request
from forky_core.views.captions import dollars

_INSTRUCTIONS = 900
"""Tokens of what a model is told beside the answers of a fusion."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Tokens that one model is sent and answers with, each call counted with the one that mends it."""

    sent: int = 0
    answered: int = 0

    def __add__(self, other: Calls) -> Calls:
        return Calls(self.sent + other.sent, self.answered + other.answered)

    def cost(self, info: ModelInfo | None) -> float | None:
        """Dollars; None where the price of the model is not known."""
        if self == Calls():
            return 0.0
        if info is None or info.input_price is None or info.output_price is None:
            return None
        return self.sent * info.input_price + self.answered * info.output_price


@dataclass(frozen=True, slots=True)
class AskingPrice:
    """The calls of a written merge at most, by the model that answers them."""

    writer: Calls
    verifier: Calls = Calls()

    def priced(self, writer: ModelInfo | None, verifier: ModelInfo | None) -> str:
        """As a button says it: "up to $0.012", "free"; "price not known"."""
        costs = (self.writer.cost(writer), self.verifier.cost(verifier))
        if None in costs:
            return "price not known"
        cost = sum(one or 0.0 for one in costs)
        told = dollars(cost)
        return (told if told.startswith("<") else f"up to {told}") if cost else "free"


def count_fusion(plan: MergePlan) -> AskingPrice:
    """The calls of a fusion, which code checks."""
    sent, answered = plan.tokens_full + _INSTRUCTIONS, max(plan.tokens, _INSTRUCTIONS // 3)
    return AskingPrice(Calls(2 * sent + answered, 2 * answered))


def count_notes(
    plan: MergePlan, focus: str, budget: int | None, lookup: Lookup, writer: Model | None
) -> AskingPrice:
    """The calls of a merge that `writer` writes: a note for each source."""
    notes = zip(plan.written_apart, plan.budgets_apart(budget), strict=True)
    found = [_note(one, focus, room, lookup, writer) for one, room in notes]
    nothing = Calls()
    return AskingPrice(
        sum((one.writer for one in found), nothing), sum((one.verifier for one in found), nothing)
    )


def _note(
    plan: MergePlan, focus: str, budget: int | None, lookup: Lookup, writer: Model | None
) -> AskingPrice:
    """The writer reads the branch, in pieces if it is long, and the verifier reads it beside the note. To mend a note,
    each is sent the same once more, with the first answer and the sentences that failed.
    """
    target = target_view(plan, lookup)
    material = material_of(plan, lookup, target)
    room = note_room(plan, budget)
    parts = list(pieces(material.messages, writer)) if writer is not None else [material.messages]
    writing, start = Calls(), 0
    for at, piece in enumerate(parts, 1):
        end = start + len(piece)
        known = replace(material, messages=material.messages[:end])
        size = room if at == len(parts) else SO_FAR
        limit = Limit.of(size, known, plan.count_tokens)
        sent = _tokens(plan, note_request(known, limit, focus=focus, target=target, start=start))
        writing += Calls(2 * (sent + size + (SO_FAR if start else 0)), 2 * size)
        start = end
    near = material.near((), VERIFIED_CHARACTERS)
    # The note is shown whole and sentence by sentence; the answer is a line for each.
    read = _tokens(plan, verify_request((), material, known=known_turns(target), only=near)) + 2 * room
    return AskingPrice(writing, Calls(2 * read, 2 * room))


def _tokens(plan: MergePlan, asked: Sequence[ProviderMessage]) -> int:
    return sum(plan.count_tokens(str(message.get("content", ""))) for message in asked)
