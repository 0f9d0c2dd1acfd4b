"""Answers of `/v1/responses` that a later request may continue by `previous_response_id` alone.

Such a request holds the new turn only. The turns before it are kept here, so that a model which is sent whole arrays
can answer it and so that it is filed below them; in memory and bounded, as a convenience of the protocol: after a
restart a client sends the whole array again, which always works.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from forky_core.gateway.calls import Said

MOST = 2_000
Items = tuple[Any, ...]


class Remembered:
    """By token, so that no program continues another's."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[str, str], Items] = OrderedDict()
        self._lock = threading.Lock()

    def whole(self, token: str, payload: Mapping[str, Any]) -> dict[str, Any] | None:
        """The request with the turns that it continues; None where they are not known any more."""
        before = payload.get("previous_response_id")
        if not before:
            return dict(payload)
        with self._lock:
            known = self._kept.get((token, str(before)))
        if known is None:
            return None
        return {**payload, "input": [*known, *_items(payload.get("input"))]}

    def keep(self, token: str, id: str, payload: Mapping[str, Any], said: Said) -> None:
        """`payload` is the whole request; what its sender wants forgotten is."""
        if payload.get("store") is False:
            return
        items = (*_items(payload.get("input")), *_said(said))
        with self._lock:
            self._kept[token, id] = items
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)


def _items(value: Any) -> Items:
    if isinstance(value, str):
        return ({"role": "user", "content": value},)
    return tuple(value) if isinstance(value, list) else (value,)


def _said(said: Said) -> Items:
    message = ({"role": "assistant", "content": "".join(said.text)},) if said.text else ()
    calls = (
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        for call in said.calls
    )
    return (*message, *calls)
