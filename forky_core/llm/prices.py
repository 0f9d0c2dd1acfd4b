"""Prices of models: the map that LiteLLM ships, read from its file, and the price of a call of a program's own model.

Reading the file takes milliseconds where importing the package takes seconds, and a page needs prices before any model
is called.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Any

from forky_core.llm.contract import (
    Done,
    Model,
    ModelEvent,
    ModelInfo,
    ReasoningDelta,
    Request,
    TextDelta,
    ToolCallDone,
)
from forky_core.llm.tokens import prompt_tokens
from forky_core.model import Usage

_FILE = "model_prices_and_context_window_backup.json"

PriceMap = Mapping[str, Mapping[str, Any]]


@cache
def price_map() -> PriceMap:
    """Return the map by model name; empty if this version of LiteLLM stores the file elsewhere."""
    spec = find_spec("litellm")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        try:
            read = json.loads((Path(folder) / _FILE).read_text("utf-8"))
        except (OSError, ValueError):
            continue
        return {
            name: entry for name, entry in read.items() if isinstance(entry, dict) and name != "sample_spec"
        }
    return {}


@cache
def shortest_limit(provider: str) -> int:
    """Return how many tokens of output every model of a provider that is not retired accepts a request for."""
    known = (entry for entry in price_map().values() if entry.get("litellm_provider") == provider)
    limits = [
        entry["max_output_tokens"]
        for entry in known
        if entry.get("mode") == "chat" and entry.get("max_output_tokens")
    ]
    return min(limits, default=_NO_LIMIT_KNOWN)


_NO_LIMIT_KNOWN = 32_000
"""Tokens of output that every current model gives; used where the map cannot be read."""


def facts(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a ModelInfo that an entry of the map has."""
    return {
        "context_window": entry.get("max_input_tokens") or entry.get("max_tokens"),
        "max_output": entry.get("max_output_tokens"),
        "input_price": entry.get("input_cost_per_token"),
        "output_price": entry.get("output_cost_per_token"),
        "cached_input_price": entry.get("cache_read_input_token_cost"),
        "sees_images": bool(entry.get("supports_vision", False)),
        "calls_tools": bool(entry.get("supports_function_calling", False)),
    }


@dataclass(frozen=True, slots=True)
class PricedModel:
    """A model whose calls cost what its `ModelInfo` says, where it does not say itself what a call has cost.

    Tokens that it does not count are counted by its `count_tokens`, for the price alone. A call that failed before
    anything arrived has no price.
    """

    model: Model

    def info(self) -> ModelInfo:
        return self.model.info()

    def count_tokens(self, text: str) -> int:
        return self.model.count_tokens(text)

    def stream(self, request: Request, stop: Event) -> Iterator[ModelEvent]:
        said, arrived = list[str](), False
        for event in self.model.stream(request, stop):
            if isinstance(event, TextDelta):
                said.append(event.text)
            if isinstance(event, TextDelta | ReasoningDelta | ToolCallDone):
                arrived = arrived or isinstance(event, ToolCallDone) or event.text != ""
            elif event.usage.cost is None and (arrived or isinstance(event, Done)):
                cost = self._cost(event.usage, request, "".join(said))
                yield replace(event, usage=replace(event.usage, cost=cost))
                continue
            yield event

    def _cost(self, usage: Usage, request: Request, text: str) -> float | None:
        info = self.info()
        if info.input_price is None or info.output_price is None:
            return None
        asked, answered = usage.prompt_tokens, usage.completion_tokens
        if asked is None:
            asked = prompt_tokens(request.messages, self.count_tokens)
        if answered is None:
            answered = self.count_tokens(text)
        cached = usage.cached_tokens or 0
        cheaper = info.cached_input_price if info.cached_input_price is not None else info.input_price
        return (asked - cached) * info.input_price + cached * cheaper + answered * info.output_price
