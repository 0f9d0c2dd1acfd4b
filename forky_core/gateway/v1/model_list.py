"""The available models, in a form that clients of both protocols read: each takes the fields it knows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from forky_core.llm.contract import ModelInfo

_SINCE = "1970-01-01T00:00:00Z"
"""Both protocols require the time when a model was made, which is not known."""


def model_entry(info: ModelInfo) -> dict[str, Any]:
    return {
        "id": info.name,
        "object": "model",
        "created": 0,
        "owned_by": info.provider,
        "type": "model",
        "display_name": info.label,
        "created_at": _SINCE,
        **({"context_window": info.context_window} if info.context_window else {}),
    }


def model_list(infos: Iterable[ModelInfo]) -> dict[str, Any]:
    entries = [model_entry(info) for info in infos]
    return {
        "object": "list",
        "data": entries,
        "has_more": False,
        "first_id": entries[0]["id"] if entries else None,
        "last_id": entries[-1]["id"] if entries else None,
    }
