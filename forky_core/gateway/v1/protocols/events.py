"""Server-sent events as models' servers write them, and understanding those that arrive in pieces."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from forky_core.gateway.v1.calls import Indexed
from forky_core.llm.contract import ModelEvent, ReasoningDelta

DONE = b"data: [DONE]\n\n"
"""How OpenAI's chat streams end."""


def event(value: object, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n\n".encode(
        "utf-8", "replace"
    )


class Lines:
    """The data of each event of a stream; a line may arrive in any number of pieces."""

    def __init__(self) -> None:
        self._rest = b""

    def hear(self, piece: bytes) -> Iterator[Any]:
        """The JSON objects that are whole now. "[DONE]" comes as None, what is no JSON not at all."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            if not line.startswith(b"data:"):
                continue
            data = line[5:].strip()
            if data == b"[DONE]":
                yield None
                continue
            value = parsed(data)
            if isinstance(value, dict):
                yield value


class OneAnswer(ABC):
    """What ears have in common whose protocol's streams hold one answer, as objects that say their type."""

    def __init__(self) -> None:
        self.id = ""
        self.complete = False
        self._lines = Lines()
        self._thinking: object = None
        """Which block the last thought was of."""

    def hear(self, piece: bytes) -> Iterator[Indexed]:
        for value in self._lines.hear(piece):
            if value is not None:
                for said in self._take(value):
                    yield 0, said

    def _thought(self, block: object, text: str) -> Iterator[ModelEvent]:
        """Words of a thought; each block of them is a paragraph of its own.

        Blocks of the answer are not: clients send them back joined as well as apart, and a citation cuts a sentence.
        """
        if text:
            apart = "\n\n" if self._thinking not in (None, block) else ""
            self._thinking = block
            yield ReasoningDelta(apart + text)

    @abstractmethod
    def _take(self, value: Mapping[str, Any]) -> Iterator[ModelEvent]:
        """What one object brings."""


def parsed(body: bytes) -> Any:
    """JSON, or None where it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
