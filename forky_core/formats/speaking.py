"""The two ways most programs write a message, OpenAI's and Anthropic's, read into parts (facts shared by importers).

Where a program writes "human", "model" or "Request" it means one of four roles; where it writes blocks they are text,
thoughts, calls, results and files under a handful of names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from forky_core.formats.contract import Files
from forky_core.formats.fields import kept_json, obj, objs, word, words
from forky_core.matching.media import data_url, decoded
from forky_core.model import Role
from forky_core.parts import (
    Json,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    arguments_json,
)

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "prompter": "user",
    "request": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "response": "assistant",
    "function_call": "assistant",
    "tool": "tool",
    "function": "tool",
    "observation": "tool",
    "toolresult": "tool",
}


def role_of(said: Json, otherwise: Role = "assistant") -> Role:
    """The role a program means."""
    return _ROLES.get(word(said).lower(), otherwise)


def text_parts(text: str) -> list[Part]:
    """A text part, or none for a text that says nothing."""
    return [TextPart(text)] if text.strip() else []


def openai_parts(message: Mapping[str, Any], files: Files) -> list[Part]:
    """The parts of a message as OpenAI's chat API writes it, with the open-source world's `reasoning_content`."""
    parts: list[Part] = []
    for key in ("reasoning_content", "reasoning", "thinking"):
        thought = word(message.get(key))
        if thought.strip():
            parts.append(ReasoningPart(thought))
            break
    if role_of(message.get("role")) == "tool":
        name = word(message.get("name"))
        parts.append(
            ToolResultPart(name, words(message.get("content")), word(message.get("tool_call_id")) or None)
        )
        return parts
    parts += content_parts(message.get("content"), files)
    for call in objs(message.get("tool_calls")):
        parts.append(tool_call(obj(call.get("function")) or call, word(call.get("id"))))
    if isinstance(message.get("function_call"), dict):
        parts.append(tool_call(message["function_call"], ""))
    return parts


def tool_call(function: Mapping[str, Any], id: str) -> Part:
    arguments = next(
        (function[key] for key in ("arguments", "args", "input", "parameters") if key in function), ""
    )
    text = arguments if isinstance(arguments, str) else kept_json(arguments)
    return ToolCallPart(word(function.get("name")) or "unknown", arguments_json(text), id or None)


def content_parts(content: Json, files: Files) -> list[Part]:
    """A text, or a list of texts and blocks of either kind."""
    if isinstance(content, str):
        return text_parts(content)
    parts: list[Part] = []
    for block in content if isinstance(content, list) else [content]:
        if isinstance(block, str):
            parts += text_parts(block)
        elif isinstance(block, dict):
            parts += _block(block, files)
    return parts


def _block(block: Mapping[str, Any], files: Files) -> list[Part]:
    match word(block.get("type")):
        case "text" | "input_text" | "output_text" | "":
            return text_parts(word(block.get("text")))
        case "thinking" | "think" | "reasoning":
            thought = next(
                (
                    word(block.get(key))
                    for key in ("thinking", "think", "text", "reasoning")
                    if block.get(key)
                ),
                "",
            )
            return [ReasoningPart(thought, provider_metadata=_signature(block))] if thought.strip() else []
        case "tool_use":
            return [tool_call(block, word(block.get("id")))]
        case "tool_result":
            return [_result(block)]
        case "tool_call":
            called = obj(block.get("tool_call")) or block
            parts: list[Part] = [tool_call(called, word(called.get("id")))]
            output = words(called.get("output"))
            return (
                [*parts, ToolResultPart(word(called.get("name")), output, word(called.get("id")) or None)]
                if output
                else parts
            )
        case "image_url" | "image" | "file" | "document" | "input_image":
            return _file(block, files)
        case _:
            return [OpaquePart(kept_json(dict(block)))]


def _signature(block: Mapping[str, Any]) -> str | None:
    signature = word(block.get("signature"))
    return kept_json({"signature": signature}) if signature else None


def _result(block: Mapping[str, Any]) -> Part:
    output = words(block.get("content"))
    failed = output if block.get("is_error") is True else None
    return ToolResultPart(word(block.get("name")), output, word(block.get("tool_use_id")) or None, failed)


def _file(block: Mapping[str, Any], files: Files) -> list[Part]:
    source = obj(block.get("source"))
    holder = block.get("image_url", block.get("image", block.get("file_data", source.get("url"))))
    url = word(holder) or word(obj(holder).get("url")) or word(obj(block.get("file")).get("file_data"))
    content, media = data_url(url) or (b"", "")
    if source.get("type") == "base64":
        content, media = decoded(word(source.get("data"))) or b"", word(source.get("media_type"))
    part = files.attach_bytes(
        content, media, word(block.get("name")) or word(obj(block.get("file")).get("filename"))
    )
    return [part if part is not None else OpaquePart(kept_json(dict(block)))]


def in_turns(parts: Iterable[Part], role: Role) -> list[tuple[Role, tuple[Part, ...]]]:
    """Parts of one source message as messages with one role each: results of tools are messages of the tool."""
    turns: list[tuple[Role, list[Part]]] = []
    for part in parts:
        says: Role = "tool" if isinstance(part, ToolResultPart) else role
        if not turns or turns[-1][0] != says:
            turns.append((says, []))
        turns[-1][1].append(part)
    return [(says, tuple(said)) for says, said in turns]
