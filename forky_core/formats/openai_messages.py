"""The message formats of OpenAI and Anthropic, which most programs use, read into parts (shared by importers).

A program may write "human", "model" or "Request" for one of four roles; blocks are text, thoughts, calls, results and
files under a handful of names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from forky_core.formats.contract import SourceFiles
from forky_core.formats.fields import TEXTS, kept_json, obj, objs, word, words, wrapped
from forky_core.formats.leftovers import BOOKKEEPING, Program, leftovers, repeated_fields, says_something
from forky_core.formats.roles import role_of
from forky_core.model import Role
from forky_core.model.media import data_url, decoded
from forky_core.model.opaque import is_left_unsaid
from forky_core.model.parts import (
    Json,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    arguments_json,
)

ANY: Final = Program("another program")


def text_parts(text: str) -> list[Part]:
    """A text part, or none for an empty text."""
    return [TextPart(text)] if text.strip() else []


_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
_ELSEWHERE = ("parts", "text", "value", "message", "body", "contentChunks")
"""Fields that hold a message's text if its `content` is empty."""
_READ = ("tool_calls", "function_call", "tool_call_id")


_PLAIN = BOOKKEEPING | {"content"}
_SPEAKERS = ("user", "assistant")


def openai_parts(message: Mapping[str, Any], files: SourceFiles, program: Program = ANY) -> list[Part]:
    """The parts of a message in OpenAI's chat format, including `reasoning_content`, which open-source servers add.

    If `content` is empty, the text is taken from fields that other programs use. An unknown field becomes a part that
    is marked as not understood.
    """
    content = message.get("content")
    if isinstance(content, str) and message.keys() <= _PLAIN and message.get("role") in _SPEAKERS:
        return text_parts(content)
    thoughts = dict.fromkeys(text for key in _THOUGHTS if (text := words(message.get(key))).strip())
    if role_of(message.get("role")) == "tool":
        field = next((key for key in ("content", *_ELSEWHERE) if words(message.get(key)).strip()), "content")
        output, said = _output(message.get(field), files, program)
        id = word(message.get("tool_call_id")) or None
        said.insert(0, ToolResultPart(word(message.get("name")), output, id))
    else:
        said, field = _said(message, files, program)
        output = "\n\n".join(part.text for part in said if isinstance(part, TextPart))
        said += tool_calls(message.get("tool_calls"), program)
        if isinstance(message.get("function_call"), dict):
            said.append(tool_call(message["function_call"], ""))
    known = {
        *_READ,
        field,
        *repeated_fields(message, ("content", "refusal", *_ELSEWHERE), output),
        *repeated_fields(message, _THOUGHTS, *thoughts),
    }
    return [*map(ReasoningPart, thoughts), *said, *leftovers(message, known, program)]


def _said(message: Mapping[str, Any], files: SourceFiles, program: Program) -> tuple[list[Part], str]:
    """The message's parts, and the field they came from: the first one with something to understand."""
    first: tuple[list[Part], str] | None = None
    for key in ("content", "refusal", *_ELSEWHERE):
        value = message.get(key)
        inner = obj(value).get("content", value) if key == "message" else value
        parts = content_parts(inner, files, program)
        if any(not isinstance(part, OpaquePart) for part in parts):
            return parts, key
        if parts:
            first = first or (parts, key)
    return first or ([], "content")


def tool_call(function: Mapping[str, Any], id: str) -> Part:
    arguments = next(
        (function[key] for key in ("arguments", "args", "input", "parameters") if key in function), ""
    )
    text = arguments if isinstance(arguments, str) else kept_json(arguments)
    return ToolCallPart(word(function.get("name")) or "unknown", arguments_json(text), id or None)


def tool_calls(calls: Json, program: Program) -> list[Part]:
    """The calls of a message in OpenAI's format; unknown fields are kept as parts."""
    parts: list[Part] = []
    for call in objs(calls):
        function = obj(call.get("function")) or call
        parts.append(tool_call(function, word(call.get("id"))))
        parts += leftovers(function, (*_CALL, "function"), program, within="tool_calls.function.")
        if function is not call:
            parts += leftovers(call, ("function",), program, within="tool_calls.")
    return parts


def content_parts(content: Json, files: SourceFiles, program: Program = ANY) -> list[Part]:
    """The parts of a text, or of a list of texts and blocks of either format. Unknown fields of a
    block become parts.
    """
    if isinstance(content, str):
        return text_parts(content)
    if isinstance(content, dict) and isinstance(content.get("parts"), list):
        return [
            *content_parts(content["parts"], files, program),
            *leftovers(content, ("parts", "content_type"), program, within="content."),
        ]
    parts: list[Part] = []
    for block in content if isinstance(content, list) else [content]:
        if isinstance(block, str):
            parts += text_parts(block)
        elif says_something(block) or isinstance(block, dict):
            parts += _block(wrapped(block), files, program)
    return parts


_THINKING = ("thinking", "think", "text", "reasoning", "content", "summary", "summaries")
_CALL = frozenset(("name", "input", "arguments", "args", "parameters"))
_RESULT = frozenset(("name", "content", "is_error", "tool_use_id", "output"))


def _block(block: Mapping[str, Any], files: SourceFiles, program: Program) -> list[Part]:
    def rest(known: Collection[str]) -> list[Part]:
        return leftovers(block, known, program, within="content.")

    match word(block.get("type")):
        case "text" | "input_text" | "output_text" | "":
            return _text(block, files, program)
        case "thinking" | "think" | "reasoning" | "thought":
            thought = next((text for key in _THINKING if (text := words(block.get(key))).strip()), "")
            thinks = [ReasoningPart(thought, provider_metadata=_signature(block))] if thought.strip() else []
            return [*thinks, *rest(("signature", *repeated_fields(block, _THINKING, thought)))]
        case "tool_use":
            return [tool_call(block, word(block.get("id"))), *rest(_CALL)]
        case "tool_result":
            return [*_result(block, files, program), *rest(_RESULT)]
        case "tool_call":
            called = obj(block.get("tool_call")) or block
            parts: list[Part] = [tool_call(called, word(called.get("id")))]
            output = words(called.get("output"))
            if output:
                parts.append(ToolResultPart(word(called.get("name")), output, word(called.get("id")) or None))
            around = (
                leftovers(block, ("tool_call",), program, within="content.") if called is not block else []
            )
            known = _CALL | _RESULT | {"tool_call", "progress"}
            return [*parts, *leftovers(called, known, program, within="content."), *around]
        case "image_url" | "image" | "file" | "document" | "input_image":
            return _file(block, files, program)
        case _:
            return [OpaquePart(kept_json(dict(block)))]


def _text(block: Mapping[str, Any], files: SourceFiles, program: Program) -> list[Part]:
    """The parts of a text block; one without a type may be a thought, a picture, or something unknown."""
    text = words(block)
    said: list[Part] = text_parts(text)
    if said and block.get("thought") is True:
        said = [ReasoningPart(text)]
    elif not said and "inlineData" in block:
        named = obj(block["inlineData"])
        name = word(named.get("displayName"))
        part = files.attach_bytes(decoded(word(named.get("data"))) or b"", word(named.get("mimeType")), name)
        if part is not None:
            rest = leftovers(
                named, ("data", "mimeType", "displayName"), program, within="content.inlineData."
            )
            said = [part, *rest]
    known = [
        *repeated_fields(block, TEXTS, text),
        *(["inlineData"] if said and not text.strip() else []),
        "thought",
    ]
    around = [name for name in TEXTS if isinstance(block.get(name), dict) and name in known]
    inner = [leftovers(block[name], TEXTS, program, within=f"content.{name}.") for name in around]
    return [
        *said,
        *(part for found in inner for part in found),
        *leftovers(block, known, program, within="content."),
    ]


def _signature(block: Mapping[str, Any]) -> str | None:
    signature = word(block.get("signature"))
    return kept_json({"signature": signature}) if signature else None


def _result(block: Mapping[str, Any], files: SourceFiles, program: Program) -> list[Part]:
    output, shown = _output(block.get("content", block.get("output")), files, program)
    failed = output if block.get("is_error") is True else None
    result = ToolResultPart(word(block.get("name")), output, word(block.get("tool_use_id")) or None, failed)
    return [result, *shown]


def _output(content: Json, files: SourceFiles, program: Program) -> tuple[str, list[Part]]:
    """The text of a tool's result, and its pictures and other parts."""
    if isinstance(content, dict) and not words(content).strip():
        return (kept_json(content) if says_something(content) else ""), []
    blocks = [content] if isinstance(content, dict) else objs(content)
    shown = [part for block in blocks for part in _block(block, files, program)]
    return words(content), [part for part in shown if not isinstance(part, TextPart)]


_FILE = frozenset(("source", "image_url", "image", "file_data", "file", "name", "media_type", "mimeType"))


def _file(block: Mapping[str, Any], files: SourceFiles, program: Program) -> list[Part]:
    source = obj(block.get("source"))
    holder = block.get("image_url", block.get("image", block.get("file_data", source.get("url"))))
    url = word(holder) or word(obj(holder).get("url")) or word(obj(block.get("file")).get("file_data"))
    content, media = data_url(url) or (b"", "")
    if source.get("type") == "base64":
        content, media = decoded(word(source.get("data"))) or b"", word(source.get("media_type"))
    part = files.attach_bytes(
        content, media, word(block.get("name")) or word(obj(block.get("file")).get("filename"))
    )
    if part is None:
        return [OpaquePart(kept_json(dict(block)))]
    rest = leftovers(block, _FILE, program, within="content.")
    for name, known in (("source", ("data", "url", "media_type")), ("file", ("file_data", "filename"))):
        rest += leftovers(obj(block.get(name)), known, program, within=f"content.{name}.")
    return [
        part,
        *rest,
        *leftovers(obj(block.get("image_url")), ("url", "detail"), program, within="content.image_url."),
    ]


def in_turns(parts: Iterable[Part], role: Role) -> list[tuple[Role, tuple[Part, ...]]]:
    """Split the parts of one source message into messages with one role each: tool results are messages of the tool.

    A part that was not understood does not start a new message.
    """
    turns: list[tuple[Role, list[Part]]] = []
    for part in parts:
        if turns and is_left_unsaid(part):
            turns[-1][1].append(part)
            continue
        says: Role = "tool" if isinstance(part, ToolResultPart) else role
        if not turns or turns[-1][0] != says:
            turns.append((says, []))
        turns[-1][1].append(part)
    return [(says, tuple(said)) for says, said in turns]
