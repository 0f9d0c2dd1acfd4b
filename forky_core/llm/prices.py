"""The price map that LiteLLM ships, read from its file: what a model costs, how much it reads, what it can see.

Reading the file takes milliseconds where importing the package takes seconds, and a page wants prices before any
model is asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_FILE = "model_prices_and_context_window_backup.json"

PriceMap = Mapping[str, Mapping[str, Any]]


@cache
def price_map() -> PriceMap:
    """By model name; empty where the file is not where this version of LiteLLM keeps it."""
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


def facts(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a ModelInfo that an entry of the map knows."""
    return {
        "context_window": entry.get("max_input_tokens") or entry.get("max_tokens"),
        "max_output": entry.get("max_output_tokens"),
        "input_price": entry.get("input_cost_per_token"),
        "output_price": entry.get("output_cost_per_token"),
        "cached_input_price": entry.get("cache_read_input_token_cost"),
        "sees_images": bool(entry.get("supports_vision", False)),
        "calls_tools": bool(entry.get("supports_function_calling", False)),
    }
