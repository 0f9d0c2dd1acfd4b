"""Anthropic's `/v1/messages`: answers as blocks, a stream as named events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from forky_core.gateway.v1.api_errors import ApiError
from forky_core.gateway.v1.calls import ClientRequest, Indexed, ProtocolAdapter, Response
from forky_core.gateway.v1.protocols.anthropic_reading import read, without_theirs
from forky_core.gateway.v1.protocols.chat import CUT_OFF, ended, failure_reported
from forky_core.gateway.v1.protocols.events import OneAnswer, event, parsed
from forky_core.llm.contract import Failed, ModelEvent, ReasoningDelta, TextDelta, ToolCallDone
from forky_core.matching import anthropic_call
from forky_core.model import Failure, Usage
from forky_core.model.end_reasons import EndReason, end_reason, said_word
from forky_core.model.parts import ReasoningPart, arguments_json, canonical_json
from forky_core.model.wires import signed_by_anthropic, thinking_block

_TO_ANTHROPIC = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}
_OWN = frozenset({"stop_sequence", "pause_turn", "model_context_window_exceeded", "refusal"})
"""Anthropic's own words that say more than those."""


def _stop_reason(reason: EndReason) -> str:
    return reason.own if reason.own in _OWN else _TO_ANTHROPIC.get(reason.common, reason.common)


def _usage(usage: Usage) -> dict[str, Any]:
    cached = usage.cached_tokens or 0
    told: dict[str, Any] = {
        # Anthropic counts cached tokens separately.
        "input_tokens": max(0, (usage.prompt_tokens or 0) - cached),
        "output_tokens": usage.completion_tokens or 0,
    }
    return {**told, "cache_read_input_tokens": cached} if cached else told


def _head(call: ClientRequest, id: str) -> dict[str, Any]:
    return {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": call.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }


def response_body(call: ClientRequest, id: str, responses: Sequence[Response]) -> dict[str, Any]:
    one = responses[0] if responses else Response()
    content: list[dict[str, Any]] = []
    content += [_thinking(part) for part in one.thoughts.parts]
    if one.text:
        content.append({"type": "text", "text": "".join(one.text)})
    content += [
        {"type": "tool_use", "id": tool.client_id, "name": tool.name, "input": _object(tool.arguments)}
        for tool in one.calls
    ]
    usage = one.end.usage if one.end is not None else Usage()
    stop = _stop_reason(one.reason)
    return {**_head(call, id), "content": content, "stop_reason": stop, "usage": _usage(usage)}


def _object(arguments: str) -> dict[str, Any]:
    """The input of a tool call as an object, even if the model wrote something else."""
    value = parsed(arguments_json(arguments).encode("utf-8", "replace"))
    return value if isinstance(value, dict) else {"arguments": value}


class AnthropicWriter:
    """Writes `message_start`, blocks that open, grow and close, `message_delta`, `message_stop`."""

    def __init__(self, call: ClientRequest, id: str) -> None:
        self._head = _head(call, id)
        self._number = -1
        self._open = ""
        """The type of the open block."""

    def begin(self) -> bytes:
        return _event("message_start", message=self._head)

    def write(self, _index: int, event: ModelEvent) -> bytes:
        match event:
            case TextDelta(text):
                return self._grow("text", {"type": "text", "text": ""}, {"type": "text_delta", "text": text})
            case ReasoningDelta():
                return self._think(event)
            case ToolCallDone(name=name, arguments=arguments):
                begun = {"type": "tool_use", "id": event.client_id, "name": name, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": arguments}
                return self._close() + self._grow("tool_use", begun, delta) + self._close()
            case _:
                return b""

    def _think(self, piece: ReasoningDelta) -> bytes:
        """Write a piece of a thought; the piece with its signature ends it."""
        part = ReasoningPart(piece.text, piece.redacted, piece.provider_metadata)
        begun: dict[str, Any] = {"type": "thinking", "thinking": "", "signature": ""}
        block = _thinking(part)
        if block["type"] == "redacted_thinking":
            head = self._close()
            self._open, self._number = "redacted_thinking", self._number + 1
            return (
                head + _event("content_block_start", index=self._number, content_block=block) + self._close()
            )
        said = b""
        if piece.text or block["signature"]:
            said = self._grow("thinking", begun, {"type": "thinking_delta", "thinking": piece.text})
        if block["signature"]:
            signed = {"type": "signature_delta", "signature": block["signature"]}
            said += self._grow("thinking", begun, signed) + self._close()
        return said

    def end(self, responses: Sequence[Response]) -> bytes:
        one = responses[0] if responses else Response()
        usage = one.end.usage if one.end is not None else Usage()
        stop = {"stop_reason": _stop_reason(one.reason), "stop_sequence": None}
        return (
            self._close() + _event("message_delta", delta=stop, usage=_usage(usage)) + _event("message_stop")
        )

    def fail(self, error: ApiError) -> bytes:
        return event(error.body("anthropic"), "error")

    def _grow(self, kind: str, begun: dict[str, Any], delta: dict[str, Any]) -> bytes:
        head = b""
        if self._open != kind:
            head = self._close()
            self._open, self._number = kind, self._number + 1
            head += _event("content_block_start", index=self._number, content_block=begun)
        return head + _event("content_block_delta", index=self._number, delta=delta)

    def _close(self) -> bytes:
        if not self._open:
            return b""
        self._open = ""
        return _event("content_block_stop", index=self._number)


def _thinking(part: ReasoningPart) -> dict[str, Any]:
    """Return a thought as a block; another provider's has an empty signature."""
    return thinking_block(part) or {"type": "thinking", "thinking": part.text, "signature": ""}


def _event(type: str, **fields: Any) -> bytes:
    return event({"type": type, **fields}, type)


@dataclass(slots=True)
class _ToolUse:
    id: str
    name: str
    json: list[str] = field(default_factory=list)


class AnthropicParser(OneAnswer):
    """Parses Anthropic's own events and complete answers."""

    def __init__(self) -> None:
        super().__init__()
        self._tools: dict[int, _ToolUse] = {}
        self._word = ""
        self._usage = Usage()
        self._failure: Failure | None = None

    def parse(self, body: bytes) -> Iterator[Indexed]:
        value = parsed(body)
        if not isinstance(value, dict):
            return
        content = value.get("content")
        for number, block in enumerate(content if isinstance(content, list) else ()):
            if isinstance(block, dict):
                for said in self._block(number, block):
                    yield 0, said
        self._ended(value)

    def close(self) -> Iterator[Indexed]:
        if self._word or self.complete:
            for _, tool in sorted(self._tools.items()):
                yield 0, ToolCallDone(tool.id, tool.name, "".join(tool.json) or "{}")
            yield 0, ended(end_reason(self._word or "stop", calls=bool(self._tools)), self._usage)
        else:
            yield 0, Failed(self._failure or CUT_OFF, self._usage)

    def _take(self, value: Mapping[str, Any]) -> Iterator[ModelEvent]:
        number = value.get("index")
        number = number if isinstance(number, int) else 0
        match value.get("type"):
            case "message_start" if isinstance(value.get("message"), dict):
                self._count(value["message"].get("usage"))
            case "content_block_start" if isinstance(value.get("content_block"), dict):
                yield from self._block(number, value["content_block"])
            case "content_block_delta" if isinstance(value.get("delta"), dict):
                yield from self._delta(number, value["delta"])
            case "message_delta" if isinstance(value.get("delta"), dict):
                self._ended({**value["delta"], "usage": value.get("usage")})
            case "message_stop":
                self.complete = True
            case "error":
                self._failure = failure_reported(value.get("error"))

    def _block(self, number: int, block: Mapping[str, Any]) -> Iterator[ModelEvent]:
        match block.get("type"):
            case "text" if block.get("text"):
                yield TextDelta(str(block["text"]))
            case "thinking" | "redacted_thinking":
                yield from self._thought(number, str(block.get("thinking") or ""))
                yield from self._signed(block)
            case "tool_use":
                tool = _ToolUse(str(block.get("id") or ""), str(block.get("name") or ""))
                if block.get("input"):
                    tool.json.append(canonical_json(block["input"]))
                self._tools[number] = tool

    def _delta(self, number: int, delta: Mapping[str, Any]) -> Iterator[ModelEvent]:
        match delta.get("type"):
            case "text_delta":
                yield TextDelta(str(delta.get("text") or ""))
            case "thinking_delta":
                yield from self._thought(number, str(delta.get("thinking") or ""))
            case "signature_delta":
                yield from self._signed(delta)
            case "input_json_delta" if number in self._tools:
                self._tools[number].json.append(str(delta.get("partial_json") or ""))

    def _signed(self, block: Mapping[str, Any]) -> Iterator[ModelEvent]:
        """End a thought that has a signature, or that is sealed."""
        if kept := signed_by_anthropic(block):
            self._thinking = None  # A signed thought is stored by itself, in its own words.
            yield ReasoningDelta("", kept, redacted=block.get("type") == "redacted_thinking")

    def _ended(self, value: Mapping[str, Any]) -> None:
        self._word = said_word(value.get("stop_reason")) or self._word
        self._count(value.get("usage"))

    def _count(self, record: Any) -> None:
        """Add token counts. They come in two events, each with different fields."""
        if not isinstance(record, dict):
            return
        fresh, read, written, out = (
            value if isinstance(value := record.get(name), int) else None
            for name in (
                "input_tokens",
                "cache_read_input_tokens",
                "cache_creation_input_tokens",
                "output_tokens",
            )
        )
        if fresh is not None:
            prompt = fresh + (read or 0) + (written or 0)
            self._usage = replace(
                self._usage, prompt_tokens=prompt, cached_tokens=read, cache_write_tokens=written
            )
        if out is not None:
            self._usage = replace(self._usage, completion_tokens=out)


MESSAGES = ProtocolAdapter(
    path="messages",
    style="anthropic",
    read=read,
    matches=anthropic_call,
    without_theirs=without_theirs,
    response_writer=AnthropicWriter,
    response_body=response_body,
    event_parser=AnthropicParser,
    prefix="msg_",
)
