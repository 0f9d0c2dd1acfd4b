"""Assembles a stream of LiteLLM chunks: text, reasoning, tool calls in pieces, and the usage at the end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from forky_core.llm.answer_pieces import AnswerPieces
from forky_core.llm.contract import ModelEvent, ModelInfo, ReasoningDelta
from forky_core.model import Usage
from forky_core.model.wires import PLAIN, Wire, signed_by_anthropic


@dataclass(slots=True)
class Assembly(AnswerPieces):
    """One reply of LiteLLM's, as far as it has arrived."""

    wire: Wire = PLAIN
    """The protocol of the reply, whose fields are read as that provider's and as no other's."""
    usage: Any = None
    """The provider's usage record, as LiteLLM returns it."""
    _text: list[str] = field(default_factory=list)

    @property
    def said_something(self) -> bool:
        return bool(self._text or self.calls)

    def take(self, chunk: Any) -> Iterator[ModelEvent]:
        """Yield the events of one chunk; tool calls are held back until they are complete."""
        self.usage = getattr(chunk, "usage", None) or self.usage
        for choice in getattr(chunk, "choices", None) or ():
            delta = choice.delta
            if thinking := getattr(delta, "reasoning_content", None):
                yield ReasoningDelta(thinking)
            if self.wire.name == "anthropic":
                yield from _signed(getattr(delta, "thinking_blocks", None))
            if text := getattr(delta, "content", None):
                yield from self._take(text)
            for piece in getattr(delta, "tool_calls", None) or ():
                function = piece.function
                name, arguments = (
                    (function.name, function.arguments) if function is not None else (None, None)
                )
                self.calls.add(piece.index or 0, piece.id or "", name or "", arguments or "")

    def _take(self, text: str) -> Iterator[ModelEvent]:
        self._text.append(text)
        yield from self.text(text)

    def rest(self, generated: str = "") -> Iterator[ModelEvent]:
        """Yield the rest of the text at the end, including what LiteLLM had received but not returned when a stream
        broke.
        """
        text = "".join(self._text)
        if len(generated) > len(text) and generated.startswith(text):
            yield from self._take(generated[len(text) :])
        yield from self.end_of_text()


def _signed(blocks: Any) -> Iterator[ReasoningDelta]:
    """Yield the ends of thoughts that Anthropic signed or sealed; their words arrive apart from these blocks."""
    for block in blocks or ():
        if isinstance(block, dict) and (kept := signed_by_anthropic(block)):
            yield ReasoningDelta("", kept, redacted=block.get("type") == "redacted_thinking")


def shed(chunks: list[Any]) -> None:
    """Remove from LiteLLM's own list of a stream's chunks those that it does not read again.

    It stores every chunk until the end, to assemble an answer for its callbacks: thousands of small objects for each
    reply, which Python's collector walks through, and a tenth of a second of the processor for every five hundred. It
    needs those with the usage, the first, and the last two, which it compares.
    """
    chunks[1:-2] = [chunk for chunk in chunks[1:-2] if getattr(chunk, "usage", None)]


def forget(chunks: list[Any]) -> None:
    """Remove from LiteLLM's list of a finished stream's chunks everything but the usage.

    At the end LiteLLM counts the tokens that the provider did not count, from these chunks: it reads a vocabulary of 56
    MB for that, or downloads one. Nobody needs the estimate, so the first chunk is made to say that there were none.
    """
    counted = [chunk for chunk in chunks if getattr(chunk, "usage", None)]
    if chunks and not (counted and counted[0] is chunks[0] and not chunks[0].choices):
        first = chunks[0].model_copy(update={"choices": []})
        first.usage = _uncounted()
        chunks[:] = [first, *counted]


def _uncounted() -> Any:
    return sys.modules["litellm"].Usage(prompt_tokens=0, completion_tokens=0, total_tokens=0)


def usage_of(record: Any, model: str, info: ModelInfo, litellm: Any | None) -> Usage:
    """Return the tokens that the provider counted, with their price by LiteLLM's map; nothing is estimated."""
    if record is None or not (record.prompt_tokens or record.completion_tokens):
        return Usage()  # Of a server that counts nothing, LiteLLM says 0: but every question has a token.
    cached = _detail(record, "prompt_tokens_details", "cached_tokens")
    written = getattr(record, "cache_creation_input_tokens", None)
    return Usage(
        prompt_tokens=record.prompt_tokens,
        completion_tokens=record.completion_tokens,
        cached_tokens=cached,
        cache_write_tokens=written or _detail(record, "prompt_tokens_details", "cache_creation_tokens"),
        reasoning_tokens=_detail(record, "completion_tokens_details", "reasoning_tokens"),
        cost=_cost(record, model, info, litellm),
        saved=_saved(cached, info),
    )


def _detail(record: Any, group: str, name: str) -> int | None:
    value = getattr(getattr(record, group, None), name, None)
    return value if isinstance(value, int) else None


def _cost(record: Any, model: str, info: ModelInfo, litellm: Any | None) -> float | None:
    if info.free:
        return 0.0
    if litellm is None or info.input_price is None:
        return None
    try:
        parts = litellm.cost_per_token(model=model, usage_object=record)
    except Exception:  # noqa: BLE001 - ModelNotMappedError and a dozen others, all meaning: the price is not known
        return None
    return float(sum(parts))


def _saved(cached: int | None, info: ModelInfo) -> float | None:
    if cached is None or info.input_price is None or info.cached_input_price is None:
        return None
    return cached * (info.input_price - info.cached_input_price)
