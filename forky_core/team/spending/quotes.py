"""What a call of a model may cost, before it is made and while its answer arrives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from forky_core.llm.contract import OFFLINE, ModelInfo, ProviderMessage
from forky_core.llm.tokens import estimate_tokens, prompt_tokens
from forky_core.model.parts import canonical_json
from forky_core.team.spending.amounts import nanodollars

LONGEST = 8_192
"""Tokens of the longest answer of a model of which that is not known, where the call names no limit of its own."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A call that somebody is about to make, with its price as far as it is known. Amounts of money are in billionths
    of a dollar.
    """

    model: str
    label: str
    """The model's name for people."""
    priced: bool
    """Whether the model's price is known."""
    question: int
    """What the question alone costs; 0 where the price is not known."""
    step: int
    """What the answers cost at most, likewise. An answer that grows longer all the same asks for as much again."""
    messages: int
    """The answers that are asked for; 0 for models that always answer for nothing."""
    token: float
    """US dollars for one token of an answer."""
    conversation: str = ""
    branch: str = ""

    @property
    def ahead(self) -> int:
        """What is set aside before the call: the most that it can cost, so that no other call spends it meanwhile."""
        return self.question + self.step

    def so_far(self, text_tokens: int) -> int:
        """What the call has cost when so many tokens of its answers have arrived."""
        return self.question + nanodollars(text_tokens * self.token)


def quote(
    info: ModelInfo,
    messages: Iterable[ProviderMessage],
    parameters: Mapping[str, Any],
    *,
    answers: int = 1,
    conversation: str = "",
    branch: str = "",
) -> Quote:
    """The quote of a call; its tokens are estimated."""
    tokens = prompt_tokens(messages)
    if tools := parameters.get("tools"):
        tokens += estimate_tokens(canonical_json(tools))
    asked = parameters.get("max_completion_tokens") or parameters.get("max_tokens")
    longest = info.max_output or LONGEST
    if isinstance(asked, int) and asked > 0:
        longest = min(asked, info.max_output or asked)
    input_price, output_price = info.input_price or 0.0, info.output_price or 0.0
    return Quote(
        info.name,
        info.label,
        info.input_price is not None and info.output_price is not None,
        nanodollars(tokens * input_price),
        nanodollars(longest * answers * output_price),
        0 if info.provider == OFFLINE else answers,
        output_price,
        conversation,
        branch,
    )
