"""Anthropic's request as a chat: blocks become messages, tool uses become calls, tool results messages of their own.

Models that are not asked at Anthropic's own address are asked with that. Thinking blocks stay with their message, and
model/wires.py decides whether the model gets them. Cache marks have no place in a chat and are left out. Anthropic
itself gets the request unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from forky_core.gateway.v1.api_errors import OnlyTheirs, malformed, only_theirs
from forky_core.gateway.v1.calls import ClientRequest, flag, text_field
from forky_core.llm.contract import ProviderMessage

_SAME_NAME = ("max_tokens", "temperature", "top_p", "top_k", "thinking")
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
    if (
        not isinstance(message, dict)
        or message.get("role") != "user"
        or not isinstance(message.get("content"), list)
    ):
        return message
    return {
        **message,
        "content": [block if _is_common(block) else _named(block) for block in message["content"]],
    }


def _is_common(block: Any) -> bool:
    try:
        if isinstance(block, dict) and isinstance(block.get("type"), str):
            _part(block, "")
    except OnlyTheirs:
        return False
    return True


def _named(block: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "text", "text": f"[{block['type'][:60]}]"}


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
