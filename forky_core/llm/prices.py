"""The price map that LiteLLM ships, read from its file: what a model costs, its context window, whether it reads
images.

Reading the file takes milliseconds where importing the package takes seconds, and a page needs prices before any model
is called.
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
