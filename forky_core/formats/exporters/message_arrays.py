"""Message arrays as the APIs of OpenAI and Anthropic take them, and ShareGPT's: one line of messages each.

A single branch is the array (or the request) itself; of several each is an object of its own with its `branch`. The
messages are those that a context is made of, so that what leaves here is what a model would have read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.flattening import Path, flattened, paths, provider_messages
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.losses import losses
from forky_core.parts import Json

_DATA_URL = re.compile(r"data:([^;,]+);base64,(.*)", re.DOTALL)
_SIDES = {"user": "human", "assistant": "gpt", "system": "system", "tool": "observation"}


class OpenAIMessages:
    name: ClassVar[str] = "openai"
    label: ClassVar[str] = "OpenAI messages (JSON)"
    suffix: ClassVar[str] = ".openai.json"
    media_type: ClassVar[str] = "application/json"

    def losses(self, chat: Chat) -> tuple[str, ...]:
        return losses(chat, ("tools", "files"))

    def write(self, chat: Chat) -> Iterator[bytes]:
        plain = flattened(chat)
        lines = paths(plain)
        each = [(path, provider_messages(plain, path)) for path in lines]
        if len(each) == 1:
            yield _json(each[0][1])
        else:
            yield _json([{**_heading(plain, path), "messages": messages} for path, messages in each])


class AnthropicMessages:
    name: ClassVar[str] = "anthropic"
    label: ClassVar[str] = "Anthropic messages (JSON)"
    suffix: ClassVar[str] = ".anthropic.json"
    media_type: ClassVar[str] = "application/json"

    def losses(self, chat: Chat) -> tuple[str, ...]:
        return losses(chat, ("tools", "files"))

    def write(self, chat: Chat) -> Iterator[bytes]:
        plain = flattened(chat)
        each = [(path, _anthropic(provider_messages(plain, path))) for path in paths(plain)]
        if len(each) == 1:
            yield _json(each[0][1])
        else:
            yield _json([{**_heading(plain, path), **request} for path, request in each])


class ShareGPTFile:
    name: ClassVar[str] = "sharegpt"
    label: ClassVar[str] = "ShareGPT (JSON)"
    suffix: ClassVar[str] = ".sharegpt.json"
    media_type: ClassVar[str] = "application/json"

    def losses(self, chat: Chat) -> tuple[str, ...]:
        return losses(chat, ("tools",))

    def write(self, chat: Chat) -> Iterator[bytes]:
        plain = flattened(chat)
        items = []
        for number, path in enumerate(paths(plain), 1):
            said = [one for message in provider_messages(plain, path) for one in _sharegpt(message)]
            items.append({"id": f"{chat.id}_{number}", **_heading(plain, path), "conversations": said})
        yield _json(items)


def _heading(chat: Chat, path: Path) -> dict[str, Json]:
    title = f"{chat.title} ({path.branch})" if path.branch != "main" else chat.title
    return {"title": title, "branch": path.branch}


def _json(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n"


def _anthropic(messages: list[dict[str, Any]]) -> dict[str, Json]:
    """`system` apart, results of tools in messages of the user, neighbours of one role as one message."""
    system = [_words(message["content"]) for message in messages if message["role"] == "system"]
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "system":
            continue
        role = "assistant" if message["role"] == "assistant" else "user"
        if not turns or turns[-1]["role"] != role:
            turns.append({"role": role, "content": []})
        turns[-1]["content"] += _blocks(message)
    request: dict[str, Json] = {"system": "\n\n".join(system)} if system else {}
    return {**request, "messages": turns}


def _blocks(message: Mapping[str, Any]) -> list[dict[str, Json]]:
    if message["role"] == "tool":
        return [
            {
                "type": "tool_result",
                "tool_use_id": message["tool_call_id"],
                "content": message["content"] or "",
            }
        ]
    content = message["content"]
    pieces = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    blocks = [_block(piece) for piece in pieces]
    for call in message.get("tool_calls", ()):
        function = call["function"]
        arguments = json.loads(function["arguments"])
        given = arguments if isinstance(arguments, dict) else {"input": arguments}
        blocks.append({"type": "tool_use", "id": call["id"], "name": function["name"], "input": given})
    return blocks


def _block(piece: Mapping[str, Any]) -> dict[str, Json]:
    match = _DATA_URL.match(piece["image_url"]["url"]) if piece["type"] == "image_url" else None
    if match is None:
        return dict(piece)
    return {"type": "image", "source": {"type": "base64", "media_type": match[1], "data": match[2]}}


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n\n".join(piece["text"] for piece in content or () if piece.get("type") == "text")


def _sharegpt(message: Mapping[str, Any]) -> Iterator[dict[str, Json]]:
    words = _words(message["content"])
    if words or not message.get("tool_calls"):
        yield {"from": _SIDES[message["role"]], "value": words}
    for call in message.get("tool_calls", ()):
        function = call["function"]
        value = json.dumps(
            {"name": function["name"], "arguments": json.loads(function["arguments"])}, ensure_ascii=False
        )
        yield {"from": "function_call", "value": value}
