"""A server that can be sent a client's own bytes: where it is, by which key, and what it calls the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from forky_core.llm.addresses import Network
from forky_core.llm.contract import ModelInfo
from forky_core.model import Usage

Dialect = Literal["chat/completions", "responses", "messages"]
"""The path of a protocol below the base URL."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """Where a model's own server is."""

    label: str
    """What a person calls it."""
    base_url: str
    """With its /v1."""
    model: str
    """The name that the server knows."""
    info: ModelInfo
    speaks: frozenset[Dialect]
    key: str | None = field(default=None, repr=False)
    reach: frozenset[Network] | None = None
    """The networks in which it may be asked; None: it is a provider, at its own address or that of its `…_BASE_URL`."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a provider's own API is, unless its `…_BASE_URL` says otherwise."""

    base_url: str
    speaks: frozenset[Dialect]
    ending: str = ""
    """What stands between an address as its clients are given it and the path."""

    def at(self, base_url: str | None) -> str:
        """With the path of its API, at this address or the usual one."""
        base = (base_url or self.base_url).rstrip("/")
        return base if base.endswith(self.ending) else base + self.ending


NATIVE = {
    "openai": Address("https://api.openai.com/v1", frozenset({"chat/completions", "responses"})),
    "anthropic": Address("https://api.anthropic.com", frozenset({"messages"}), "/v1"),
}
"""By the id of a provider: those whose requests are passed on as they came."""


def priced(usage: Usage, info: ModelInfo) -> float | None:
    """US dollars by the price map; None where the price or the tokens are not known."""
    if info.input_price is None or info.output_price is None or usage.prompt_tokens is None:
        return None
    cached = usage.cached_tokens or 0
    cheaper = info.cached_input_price if info.cached_input_price is not None else info.input_price
    fresh = usage.prompt_tokens - cached
    return fresh * info.input_price + cached * cheaper + (usage.completion_tokens or 0) * info.output_price
