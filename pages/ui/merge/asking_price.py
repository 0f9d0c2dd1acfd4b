"""What asking a model to write a merge would cost, known before anything is sent."""

from __future__ import annotations

from forky_core.context.masking import Lookup
from forky_core.llm.contract import ModelInfo
from forky_core.merge.plan import MergePlan
from forky_core.merge.strategy import Strategy
from forky_core.merge.written.plan import material_of, note_room, target_view
from forky_core.merge.written.requests import Limit, note_request
from forky_core.views.captions import about

_INSTRUCTIONS = 900
"""Tokens of what a model is told beside the messages, where the request itself is not at hand."""


def count_request(
    plan: MergePlan, strategy: Strategy | None, focus: str, budget: int | None, lookup: Lookup
) -> tuple[int, int]:
    """Tokens that one call would be sent, and the most that it is asked to answer with.

    A fusion has no strategy.
    """
    if strategy is None or strategy.model != "writes":
        return plan.tokens_full + _INSTRUCTIONS, max(plan.tokens, _INSTRUCTIONS // 3)
    apart = plan.written_apart
    found = [_note(one, lookup, focus, None if len(apart) > 1 else budget) for one in apart]
    return sum(sent for sent, _ in found), sum(written for _, written in found)


def _note(plan: MergePlan, lookup: Lookup, focus: str, budget: int | None) -> tuple[int, int]:
    """The writer reads the branch and answers with a note; the verifier reads both and answers in a line a sentence."""
    target = target_view(plan, lookup)
    material = material_of(plan, lookup, target)
    room = note_room(plan, budget)
    limit = Limit.of(room, material, plan.count_tokens)
    asked = note_request(material, limit, focus=focus, target=target)
    sent = sum(plan.count_tokens(str(message.get("content", ""))) for message in asked)
    return 2 * sent + room, 2 * room


def cost_of(request: tuple[int, int], info: ModelInfo | None) -> float | None:
    """Dollars that one call costs at most; None where the price of the model is not known."""
    if info is None or info.input_price is None or info.output_price is None:
        return None
    sent, written = request
    return sent * info.input_price + written * info.output_price


def priced(request: tuple[int, int], info: ModelInfo | None) -> str:
    """As a button says it: "≈ $0.012", "free"; "price not known"."""
    cost = cost_of(request, info)
    if cost is None:
        return "price not known"
    return about(cost) if cost else "free"
