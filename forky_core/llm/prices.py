"""Prices of models: the map that LiteLLM ships, read from its file, and the cost of a call of a program's own model.

Reading the file takes milliseconds, whereas importing the package takes seconds, and a page needs prices before any
model is called.
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
    """Return a limit of output tokens that every model of a provider accepts."""
    entries = (entry for entry in price_map().values() if entry.get("litellm_provider") == provider)
    limits = [
        entry["max_output_tokens"]
        for entry in entries
        if entry.get("mode") == "chat" and entry.get("max_output_tokens")
    ]
    return min(limits, default=_NO_LIMIT_KNOWN)


_NO_LIMIT_KNOWN = 32_000
"""A limit of output tokens that every current model accepts; used if the map cannot be read."""


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
    """Adds the cost, by the prices of its `ModelInfo`, to each call for which a model reports none.

    Only for the cost, tokens that the model does not report are counted by its `count_tokens`. A call that failed
    before anything arrived has no cost.
    """

    model: Model

    def info(self) -> ModelInfo:
        return self.model.info()

    def count_tokens(self, text: str) -> int:
        return self.model.count_tokens(text)

    def stream(self, request: Request, stop: Event) -> Iterator[ModelEvent]:
        pieces, arrived = list[str](), False
        for event in self.model.stream(request, stop):
            if isinstance(event, TextDelta):
                pieces.append(event.text)
            if isinstance(event, TextDelta | ReasoningDelta | ToolCallDone):
                arrived = arrived or isinstance(event, ToolCallDone) or event.text != ""
            elif event.usage.cost is None and (arrived or isinstance(event, Done)):
                cost = self._cost(event.usage, request, "".join(pieces))
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
