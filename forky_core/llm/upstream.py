"""A server to which a client's own bytes can be forwarded: its address, its key, and its name for the model."""

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
    """The server of a model."""

    label: str
    """The name for people."""
    base_url: str
    """The base URL, including /v1."""
    model: str
    """The server's name for the model."""
    info: ModelInfo
    speaks: frozenset[Dialect]
    key: str | None = field(default=None, repr=False)
    reach: frozenset[Network] | None = None
    """The networks in which it may be asked; None for a provider, at its own address or that of its `…_BASE_URL`."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a provider's own API, unless its `…_BASE_URL` says otherwise."""

    base_url: str
    speaks: frozenset[Dialect]
    ending: str = ""
    """The text between the base URL for its clients and the path."""

    def at(self, base_url: str | None) -> str:
        """Return the base URL with the path of its API, for this base URL or the default one."""
        base = (base_url or self.base_url).rstrip("/")
        return base if base.endswith(self.ending) else base + self.ending


NATIVE = {
    "openai": Address("https://api.openai.com/v1", frozenset({"chat/completions", "responses"})),
    "anthropic": Address("https://api.anthropic.com", frozenset({"messages"}), "/v1"),
}
"""The providers whose requests are forwarded unchanged, by id."""


def priced(usage: Usage, info: ModelInfo) -> float | None:
    """Return the cost in US dollars by the price map; None if the price or the tokens are not known."""
    if info.input_price is None or info.output_price is None or usage.prompt_tokens is None:
        return None
    cached = usage.cached_tokens or 0
    cheaper = info.cached_input_price if info.cached_input_price is not None else info.input_price
    fresh = usage.prompt_tokens - cached
    return fresh * info.input_price + cached * cheaper + (usage.completion_tokens or 0) * info.output_price
