"""Message arrays in the formats of OpenAI's and Anthropic's APIs, and ShareGPT's: a list of messages for each branch.

A branch is an object with its title, its messages and their times (`created_at`); several branches are an array of
them, each with its name as `branch`. The messages are those of a context, so that the file has what a model would have
read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, ClassVar

from forky_core.formats.exporting.flattening import Path, flattened, paths, provider_messages
from forky_core.formats.exporting.losses import losses
from forky_core.formats.exporting.writers.json_pieces import array, array_of, object_with
from forky_core.formats.forky_file.chat import Chat
from forky_core.model.parts import Json

_DATA_URL = re.compile(r"data:([^;,]+);base64,(.*)", re.DOTALL)
_SIDES = {"user": "human", "assistant": "gpt", "system": "system", "tool": "observation"}


class OpenAIMessages:
    name: ClassVar[str] = "openai"
    label: ClassVar[str] = "OpenAI messages (JSON)"
    suffix: ClassVar[str] = ".openai.json"
    media_type: ClassVar[str] = "application/json"

    def losses(self, chat: Chat) -> tuple[str, ...]:
        return losses(chat, ("tools", "files", "prompts"))

    def write(self, chat: Chat) -> Iterator[bytes]:
        plain = flattened(chat)
        objects = (
            object_with(
                _heading(plain, path),
                "messages",
                array(_dated(message, at) for message, at in provider_messages(plain, path)),
            )
            for path in paths(plain)
        )
        yield from array_of(objects) if _several(plain) else chain.from_iterable(objects)
        yield b"\n"


class AnthropicMessages:
    name: ClassVar[str] = "anthropic"
    label: ClassVar[str] = "Anthropic messages (JSON)"
    suffix: ClassVar[str] = ".anthropic.json"
    media_type: ClassVar[str] = "application/json"

    def losses(self, chat: Chat) -> tuple[str, ...]:
        return losses(chat, ("tools", "files", "prompts"))

    def write(self, chat: Chat) -> Iterator[bytes]:
        plain = flattened(chat)
        requests = (
            object_with(
                {**_heading(plain, path), **_system(plain, path)},
                "messages",
                array(_turns(provider_messages(plain, path))),
            )
            for path in paths(plain)
        )
        yield from array_of(requests) if _several(plain) else chain.from_iterable(requests)
        yield b"\n"


class ShareGPTFile:
    name: ClassVar[str] = "sharegpt"
    label: ClassVar[str] = "ShareGPT (JSON)"
    suffix: ClassVar[str] = ".sharegpt.json"
    media_type: ClassVar[str] = "application/json"

    def losses(self, chat: Chat) -> tuple[str, ...]:
        return losses(chat, ("tools", "prompts"))

    def write(self, chat: Chat) -> Iterator[bytes]:
        plain = flattened(chat)
        yield from array_of(
            object_with(
                {"id": f"{chat.id}_{number}", **_heading(plain, path)},
                "conversations",
                array(
                    _dated(one, at)
                    for message, at in provider_messages(plain, path)
                    for one in _sharegpt(message)
                ),
            )
            for number, path in enumerate(paths(plain), 1)
        )
        yield b"\n"


def _heading(chat: Chat, path: Path) -> dict[str, Json]:
    title = f"{chat.title} ({path.branch})" if path.branch != "main" else chat.title
    return {"title": title, **({"branch": path.branch} if _several(chat) else {})}


def _dated(message: Mapping[str, Any], at: str) -> dict[str, Json]:
    return {**message, "created_at": at} if at else dict(message)


def _several(chat: Chat) -> bool:
    """Whether the conversation has more than one branch to export."""
    return len({branch.head for branch in chat.view.branches.values() if branch.head is not None}) != 1


def _system(chat: Chat, path: Path) -> dict[str, Json]:
    """The system prompt, which Anthropic takes outside the messages."""
    said = () if path.system else path.messages
    those = replace(path, messages=tuple(id for id in said if chat.messages[id].role == "system"))
    words = [_words(message["content"]) for message, _ in provider_messages(chat, those)]
    return {"system": "\n\n".join(words)} if words else {}


def _turns(messages: Iterable[tuple[Mapping[str, Any], str]]) -> Iterator[dict[str, Json]]:
    """The messages without `system`; tool results are in messages of the user, and adjacent messages of one role are
    joined, with the time of the first.
    """
    turn: dict[str, Any] = {}
    for message, at in messages:
        if message["role"] == "system":
            continue
        role = "assistant" if message["role"] == "assistant" else "user"
        if turn.get("role") != role:
            if turn:
                yield turn
            turn = _dated({"role": role, "content": []}, at)
        turn["content"] += _blocks(message)
    if turn:
        yield turn


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
