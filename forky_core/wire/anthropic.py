"""Anthropic's `/v1/messages`, both ways.

A request becomes a chat: tool uses become calls, tool results messages of their own. Models that are not asked at
Anthropic's own address are asked with that; Anthropic itself gets the request unchanged. Thinking blocks stay with
their message, and model/wires.py decides whether the model gets them. Cache marks have no place in a chat and are left
out. An answer is written as blocks, a stream as named events.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from forky_core.llm.answer_pieces import THEIRS, ToolCallPieces
from forky_core.llm.contract import (
    Failed,
    ModelEvent,
    ProviderMessage,
    ReasoningDelta,
    TextDelta,
    ToolCallDone,
)
from forky_core.model import Failure, Usage
from forky_core.model.end_reasons import EndReason, end_reason, said_word
from forky_core.model.errors import BadCall
from forky_core.model.media import RequestFiles
from forky_core.model.parts import Draft, Json, ReasoningPart, arguments_json, canonical_json, json_object
from forky_core.model.wires import signed_by_anthropic, thinking_block
from forky_core.wire.call import Call, Turns, build_call, in_turns, messages_of
from forky_core.wire.content import content_parts, object_of
from forky_core.wire.contract import ClientRequest, Indexed, ProtocolAdapter, Response, flag, text_field
from forky_core.wire.errors import ApiError, is_common, malformed, only_theirs
from forky_core.wire.streams import CUT_OFF, OneAnswer, ended, event, failure_reported

_SAME_NAME = ("max_tokens", "temperature", "top_p", "top_k", "thinking")
_DATA_URL = re.compile(r"data:([^;,]+);base64,(.*)", re.DOTALL)
_CHOICES = {"auto": "auto", "any": "required", "none": "none"}


def read(payload: Mapping[str, Any]) -> ClientRequest:
    """Read a request. Raises ApiError (400) if it is malformed."""
    messages = payload.get("messages")
    if not isinstance(messages, list) or not messages:
        raise malformed("“messages” must be an array with at least one message.", "messages")
    limit = payload.get("max_tokens")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise malformed("“max_tokens” must be a number, 1 or more.", "max_tokens")
    return ClientRequest(
        model=text_field(payload, "model"),
        messages=(
            *_system(payload.get("system")),
            *(one for number, message in enumerate(messages) for one in _messages(message, number)),
        ),
        parameters=_parameters(payload),
        streams=flag(payload, "stream"),
    )


def without_theirs(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The request for models of other providers; a block that only Anthropic's understand is replaced by its type."""
    common = dict(payload)
    if isinstance(payload.get("messages"), list):
        common["messages"] = [_common(message) for message in payload["messages"]]
    if isinstance(payload.get("tools"), list):
        common["tools"] = [tool for tool in payload["tools"] if not _runs_there(tool)]
    return common


def _common(message: Any) -> Any:
    match message:
        case {"role": "user", "content": [*blocks]}:
            return {**message, "content": [_common_block(block) for block in blocks]}
    return message


def _common_block(block: Any) -> Any:
    match block:
        case {"type": str(kind)} if not is_common(lambda one: _part(one, ""), block):
            return {"type": "text", "text": f"[{kind[:60]}]"}
    return block


def _runs_there(tool: Any) -> bool:
    return isinstance(tool, dict) and isinstance(tool.get("name"), str) and "input_schema" not in tool


def _system(value: Any) -> Iterator[ProviderMessage]:
    if isinstance(value, str) and value:
        yield {"role": "system", "content": value}
    elif isinstance(value, list):
        if said := _text(value, "system"):
            yield {"role": "system", "content": said}
    elif value is not None and not isinstance(value, str):
        raise malformed("“system” must be a text or an array of text blocks.", "system")


def _messages(message: Any, number: int) -> Iterator[ProviderMessage]:
    place = f"messages[{number}]"
    if not isinstance(message, dict) or message.get("role") not in ("user", "assistant", "system"):
        raise malformed(f"“{place}” must be an object with the role user or assistant.", place)
    content = message.get("content")
    if isinstance(content, str):
        yield {"role": message["role"], "content": content}
        return
    blocks = _blocks(content, f"{place}.content")
    if message["role"] == "assistant":
        yield _assistant(blocks)
        return
    for block in blocks:
        if block["type"] == "tool_result":
            yield {
                "role": "tool",
                "tool_call_id": str(block.get("tool_use_id") or ""),
                "content": _result(block.get("content"), f"{place}.content"),
            }
    parts = [part for block in blocks if (part := _part(block, place)) is not None]
    if parts:
        yield {"role": message["role"], "content": parts}


def _blocks(content: Any, place: str) -> list[dict[str, Any]]:
    if not isinstance(content, list) or not all(
        isinstance(block, dict) and isinstance(block.get("type"), str) for block in content
    ):
        raise malformed(f"“{place}” must be a text or an array of blocks.", place)
    return content


def _assistant(blocks: list[dict[str, Any]]) -> ProviderMessage:
    text = "".join(str(block.get("text") or "") for block in blocks if block["type"] == "text")
    calls = [
        {
            "id": str(block.get("id") or ""),
            "type": "function",
            "function": {
                "name": str(block.get("name") or ""),
                "arguments": json.dumps(block.get("input") or {}, ensure_ascii=False),
            },
        }
        for block in blocks
        if block["type"] == "tool_use"
    ]
    message: ProviderMessage = {"role": "assistant", "content": text or None}
    thoughts = [block for block in blocks if block["type"] in ("thinking", "redacted_thinking")]
    if thoughts:
        message["thinking_blocks"] = thoughts
    return {**message, "tool_calls": calls} if calls else {**message, "content": text}


def _result(content: Any, place: str) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return _text(_blocks(content, place), place)


def _text(blocks: Any, place: str) -> str:
    """The text of blocks; other blocks are named, so that nothing is left out silently."""
    texts = [
        str(block.get("text") or "") if block["type"] == "text" else f"[{block['type']}]"
        for block in _blocks(blocks, place)
    ]
    return "\n".join(texts)


def _part(block: Mapping[str, Any], place: str) -> dict[str, Any] | None:
    match block["type"]:
        case "tool_result":
            return None
        case "text":
            return {"type": "text", "text": str(block.get("text") or "")}
        case "image":
            return {"type": "image_url", "image_url": {"url": _address(block.get("source"), place)}}
        case "document":
            source = block.get("source")
            if isinstance(source, dict) and source.get("type") == "text":
                return {"type": "text", "text": str(source.get("data") or "")}
            return {"type": "file", "file": {"file_data": _address(source, place)}}
        case kind:
            raise only_theirs(
                f"A block of the type “{kind[:60]}” can only be sent to Anthropic's own models.", place
            )


def _address(source: Any, place: str) -> str:
    if isinstance(source, dict) and source.get("type") == "base64" and isinstance(source.get("data"), str):
        return f"data:{source.get('media_type') or 'application/octet-stream'};base64,{source['data']}"
    if isinstance(source, dict) and isinstance(source.get("url"), str):
        return str(source["url"])
    raise only_theirs(f"“{place}” holds an image or document without a source that could be read.", place)


def _parameters(payload: Mapping[str, Any]) -> dict[str, Any]:
    parameters = {name: payload[name] for name in _SAME_NAME if payload.get(name) is not None}
    if payload.get("stop_sequences"):
        parameters["stop"] = payload["stop_sequences"]
    if payload.get("tools"):
        parameters["tools"] = [_tool(tool, number) for number, tool in enumerate(_tools(payload["tools"]))]
    choice = payload.get("tool_choice")
    if isinstance(choice, dict):
        parameters["tool_choice"] = (
            {"type": "function", "function": {"name": choice.get("name")}}
            if choice.get("type") == "tool"
            else _CHOICES.get(str(choice.get("type")), "auto")
        )
        if choice.get("disable_parallel_tool_use"):
            parameters["parallel_tool_calls"] = False
    return parameters


def _tools(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise malformed("“tools” must be an array.", "tools")
    return value


def _tool(tool: Any, number: int) -> dict[str, Any]:
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
        raise malformed(f"“tools[{number}]” must be an object with a name.", f"tools[{number}]")
    if "input_schema" not in tool:
        raise only_theirs(
            f"The tool “{tool['name'][:60]}” runs at Anthropic and cannot be given to another model.",
            f"tools[{number}]",
        )
    function = {"name": tool["name"], "parameters": tool["input_schema"]}
    if tool.get("description"):
        function["description"] = tool["description"]
    return {"type": "function", "function": function}


def anthropic_call(body: Mapping[str, Json]) -> Call:
    """Parse a request of Anthropic's `/v1/messages`, in which tool results stand in user messages.

    Raises:
        BadCall: it cannot be read; the error says where.
    """
    files = RequestFiles()
    turns: Turns = []
    for at, message in enumerate(messages_of(body, "messages")):
        where = f"messages[{at}]"
        given = object_of(message, where)
        role = given.get("role")
        parts = content_parts(given.get("content"), f"{where}.content", files)
        if role in ("system", "developer"):
            turns.append((Draft("system", tuple(parts)), where))
        elif role in ("user", "assistant"):
            turns += in_turns(role, parts, where)
        else:
            raise BadCall("A message is of the user or the assistant.", f"{where}.role")
    before = [
        part.text for part in content_parts(body.get("system"), "system", files) if hasattr(part, "text")
    ]
    return build_call(turns, before, body, files)


def blocks_of_message(message: Mapping[str, Any]) -> list[dict[str, Json]]:
    """The blocks of one message of a chat, which is no system message."""
    if message["role"] == "tool":
        result = {"type": "tool_result", "tool_use_id": message["tool_call_id"]}
        return [{**result, "content": message["content"] or ""}]
    content = message["content"]
    pieces = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    blocks = [_block_of_part(piece) for piece in pieces]
    for call in message.get("tool_calls", ()):
        function = call["function"]
        arguments = json.loads(function["arguments"])
        given = arguments if isinstance(arguments, dict) else {"input": arguments}
        blocks.append({"type": "tool_use", "id": call["id"], "name": function["name"], "input": given})
    return blocks


def _block_of_part(piece: Mapping[str, Any]) -> dict[str, Json]:
    match = _DATA_URL.match(piece["image_url"]["url"]) if piece["type"] == "image_url" else None
    if match is None:
        return dict(piece)
    return {"type": "image", "source": {"type": "base64", "media_type": match[1], "data": match[2]}}


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
    content = [_thinking(part) for part in one.thoughts.parts]
    if one.text:
        content.append({"type": "text", "text": "".join(one.text)})
    content += [
        {"type": "tool_use", "id": tool.client_id, "name": tool.name, "input": _object(tool.arguments)}
        for tool in one.calls
    ]
    stop = _stop_reason(one.reason)
    return {**_head(call, id), "content": content, "stop_reason": stop, "usage": _usage(one.usage)}


def _object(arguments: str) -> dict[str, Any]:
    """The input of a tool call as an object, even if the model wrote something else."""
    value = json.loads(arguments_json(arguments).encode("utf-8", "replace"))
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
            return self._start("redacted_thinking", block) + self._close()
        said = b""
        if piece.text or block["signature"]:
            said = self._grow("thinking", begun, {"type": "thinking_delta", "thinking": piece.text})
        if block["signature"]:
            signed = {"type": "signature_delta", "signature": block["signature"]}
            said += self._grow("thinking", begun, signed) + self._close()
        return said

    def end(self, responses: Sequence[Response]) -> bytes:
        one = responses[0] if responses else Response()
        stop = {"stop_reason": _stop_reason(one.reason), "stop_sequence": None}
        closing = self._close() + _event("message_delta", delta=stop, usage=_usage(one.usage))
        return closing + _event("message_stop")

    def fail(self, error: ApiError) -> bytes:
        return event(error.body("anthropic"), "error")

    def _grow(self, kind: str, begun: dict[str, Any], delta: dict[str, Any]) -> bytes:
        head = self._start(kind, begun) if self._open != kind else b""
        return head + _event("content_block_delta", index=self._number, delta=delta)

    def _start(self, kind: str, begun: dict[str, Any]) -> bytes:
        head = self._close()
        self._open, self._number = kind, self._number + 1
        return head + _event("content_block_start", index=self._number, content_block=begun)

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


class AnthropicParser(OneAnswer):
    """Parses Anthropic's own events and complete answers."""

    def __init__(self) -> None:
        super().__init__()
        self._calls = ToolCallPieces()
        self._word = ""
        self._usage = Usage()
        self._failure: Failure | None = None

    def parse(self, body: bytes) -> Iterator[Indexed]:
        if (value := json_object(body)) is None:
            return
        content = value.get("content")
        for number, block in enumerate(content if isinstance(content, list) else ()):
            if isinstance(block, dict):
                for said in self._block(number, block):
                    yield 0, said
        self._ended(value)

    def close(self) -> Iterator[Indexed]:
        if self._failure is None and (self._word or self.complete):
            yield from ((0, call) for call in self._calls.done())
            yield 0, ended(end_reason(self._word or "stop", calls=bool(self._calls)), self._usage)
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
            case "tool_use" | "server_tool_use" | "mcp_tool_use" as kind:
                given = canonical_json(block["input"]) if block.get("input") else ""
                id = str(block.get("id") or "") if kind == "tool_use" else THEIRS
                self._calls.add(number, id, str(block.get("name") or ""), given)

    def _delta(self, number: int, delta: Mapping[str, Any]) -> Iterator[ModelEvent]:
        match delta.get("type"):
            case "text_delta":
                yield TextDelta(str(delta.get("text") or ""))
            case "thinking_delta":
                yield from self._thought(number, str(delta.get("thinking") or ""))
            case "signature_delta":
                yield from self._signed(delta)
            case "input_json_delta":
                self._calls.add(number, "", "", str(delta.get("partial_json") or ""))

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
