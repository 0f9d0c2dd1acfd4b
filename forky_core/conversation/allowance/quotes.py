"""What a call of a model can cost, before it is made and while its answer arrives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from forky_core.conversation.allowance.amounts import nanodollars
from forky_core.llm.contract import OFFLINE, ModelInfo, ProviderMessage
from forky_core.llm.tokens import estimate_tokens, prompt_tokens
from forky_core.model.parts import canonical_json

LONGEST = 8_192
"""Tokens of the longest answer of a model of which that is not known, where the call names no limit of its own."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A call that somebody is about to make, with its price as far as it is known, in billionths of a dollar."""

    label: str
    """The model's name for people."""
    priced: bool
    """Whether the model's price is known."""
    question: int
    """What the question alone costs; 0 where the price is not known."""
    longest: int
    """What the longest answers cost, likewise. One that grows longer all the same asks for as much again."""
    answers: int
    """The answers that are asked for; none where only an embedding is, or the model is free."""
    token: float
    """US dollars for one token of an answer."""
    ends_itself: bool = False
    """Whether whoever makes the call reads it as it arrives, and ends it when nothing is left."""
    free: bool = False
    """Whether the model always answers for nothing."""

    @property
    def most(self) -> int:
        """The most that the call can cost."""
        return self.question + self.longest

    def so_far(self, tokens: int) -> int:
        """What the call has cost when so many tokens of its answers have arrived."""
        return self.question + nanodollars(tokens * self.token)


def quote(
    info: ModelInfo,
    messages: Iterable[ProviderMessage],
    parameters: Mapping[str, Any],
    *,
    answers: int = 1,
    ends_itself: bool = False,
) -> Quote:
    """The quote of a call; its tokens are estimated."""
    tokens = prompt_tokens(messages)
    if tools := parameters.get("tools"):
        tokens += estimate_tokens(canonical_json(tools))
    named = [parameters.get(name) for name in ("max_completion_tokens", "max_tokens")]
    # Of what is no number of tokens nobody knows how a provider reads it: it limits nothing here.
    longest = max(
        (limit for limit in named if type(limit) is int and limit > 0), default=info.max_output or LONGEST
    )
    longest = min(longest, info.max_output or longest)
    input_price, output_price = info.input_price or 0.0, info.output_price or 0.0
    return Quote(
        info.label,
        info.input_price is not None and info.output_price is not None,
        nanodollars(tokens * input_price),
        nanodollars(longest * answers * output_price),
        0 if info.provider == OFFLINE else answers,
        output_price,
        ends_itself,
        info.provider == OFFLINE,
    )
