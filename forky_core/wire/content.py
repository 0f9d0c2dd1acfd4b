"""Strict parsing of message content in the formats of three APIs: a malformed block refuses the request, and the error
names its place. (An import parses the same formats leniently: formats/openai_messages.py.)

A block of an unknown type is preserved unchanged.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any

from forky_core.model.errors import BadCall
from forky_core.model.hashing import mend_json, mend_text
from forky_core.model.media import RequestFiles, data_url
from forky_core.model.parts import (
    Json,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    arguments_json,
    canonical_json,
)
from forky_core.model.wires import signed_by_anthropic, without_signature

LONGEST_TEXT = 20_000_000
"""The most characters of one message, system prompt or draft."""
DEEPEST = 200
"""The most levels of nested JSON."""


def text_of(value: Json, where: str) -> str:
    """Return a text in storable form.

    Raises:
        BadCall: the value is no text, or too long.
    """
    if not isinstance(value, str):
        raise BadCall(f"This should be a text; it is {_kind(value)}.", where)
    if len(value) > LONGEST_TEXT:
        raise BadCall(f"A message may have {LONGEST_TEXT:,} characters; this one has {len(value):,}.", where)
    return mend_text(value)


def kept_json(value: Json, where: str) -> Json:
    """Return JSON in storable form.

    Raises:
        BadCall: it is nested more than `DEEPEST` levels; without this check a later step would fail on it.
    """
    level = [value]
    for _ in range(DEEPEST):
        level = [child for one in level for child in _children(one)]
        if not level:
            return mend_json(value)
    raise BadCall(f"This is nested more than {DEEPEST} levels deep.", where)


def _children(value: Json) -> Iterable[Json]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def object_of(value: Json, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadCall(f"This should be an object; it is {_kind(value)}.", where)
    return value


def list_of(value: Json, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise BadCall(f"This should be a list; it is {_kind(value)}.", where)
    return value


def optional_text(value: Json, where: str) -> str | None:
    """Return a text, or None for a missing, null or empty one."""
    return (text_of(value, where) or None) if value is not None else None


def content_parts(content: Json, where: str, files: RequestFiles) -> list[Part]:
    """Parse a message's content: a text, nothing, or a list of blocks."""
    if isinstance(content, str):
        text = text_of(content, where)
        return [TextPart(text)] if text else []
    if content is None:
        return []
    if not isinstance(content, list):
        raise BadCall(f"Content is a text or a list of blocks; this is {_kind(content)}.", where)
    return [part for at, block in enumerate(content) for part in block_parts(block, f"{where}[{at}]", files)]


def block_parts(block: Json, where: str, files: RequestFiles) -> list[Part]:
    """Parse one block. It makes several parts only if it is a tool result with pictures."""
    if isinstance(block, str):
        return [TextPart(text_of(block, where))] if block else []
    given = object_of(block, where)
    kind = given.get("type")
    if not isinstance(kind, str):
        raise BadCall("This block does not say its type.", where, "Give it a “type”, such as “text”.")
    match kind:
        case "text" | "input_text" | "output_text":
            text = text_of(given.get("text"), f"{where}.text")
            return [TextPart(text)] if text else []
        case "refusal":
            return [TextPart(text_of(given.get("refusal"), f"{where}.refusal"))]
        case "thinking":
            return [_thought(given, where)]
        case "tool_use":
            return [tool_call(given, given.get("id"), where, "input")]
        case "tool_result":
            return _tool_result(given, where, files)
        case "image_url" | "input_image" | "image" | "document" | "file" | "input_file" | "input_audio":
            return [_file(given, kind, where, files)]
        case _:
            return [OpaquePart(canonical_json(kept_json(dict(given), where)))]


def tool_call(call: Mapping[str, Any], id: Json, where: str, field: str = "arguments") -> ToolCallPart:
    """Parse a tool call whose `field` has its arguments, as JSON text or as an object."""
    called = text_of(call.get("name"), f"{where}.name")
    if not called:
        raise BadCall("This tool call names no tool.", f"{where}.name")
    arguments = call.get(field)
    if arguments is None:
        arguments = ""
    if not isinstance(arguments, str | dict):
        raise BadCall(
            f"Arguments are JSON text or an object; these are {_kind(arguments)}.", f"{where}.arguments"
        )
    if isinstance(arguments, dict):
        arguments = canonical_json(kept_json(arguments, f"{where}.arguments"))
    named, signature = without_signature(optional_text(id, f"{where}.id") or "")
    return ToolCallPart(called, arguments_json(mend_text(arguments)), named or None, signature)


def answered_call(id: Json, where: str) -> str:
    """Return the id of the call that a result answers."""
    return without_signature(text_of(id, where))[0]


def output_text(value: Json, where: str) -> str:
    """Return a tool's output: a text, or the text of a list of blocks."""
    if value is None or isinstance(value, str):
        return text_of(value or "", where)
    pieces = []
    for at, block in enumerate(list_of(value, where)):
        given = (
            {"type": "text", "text": block} if isinstance(block, str) else object_of(block, f"{where}[{at}]")
        )
        if given.get("type") in ("text", "input_text", "output_text"):
            pieces.append(text_of(given.get("text"), f"{where}[{at}].text"))
    return "\n\n".join(pieces)


def _tool_result(block: Mapping[str, Any], where: str, files: RequestFiles) -> list[Part]:
    id = answered_call(block.get("tool_use_id"), f"{where}.tool_use_id")
    content = block.get("content")
    output = output_text(content, f"{where}.content")
    failed = output if block.get("is_error") is True else None
    shown = content if isinstance(content, list) else []
    pictures = [
        part
        for at, one in enumerate(shown)
        if isinstance(one, dict) and one.get("type") not in ("text", None)
        for part in block_parts(one, f"{where}.content[{at}]", files)
    ]
    return [ToolResultPart("", output, id or None, failed), *pictures]


def _thought(block: Mapping[str, Any], where: str) -> Part:
    optional_text(block.get("signature"), f"{where}.signature")
    kept = signed_by_anthropic(block)
    thought = block.get("thinking", "")
    said = output_text(thought, f"{where}.thinking") if isinstance(thought, list) else thought
    return ReasoningPart(text_of(said, f"{where}.thinking"), provider_metadata=kept)


def _file(block: Mapping[str, Any], kind: str, where: str, files: RequestFiles) -> Part:
    """Parse a file: its bytes if the block has them, otherwise its address or id."""
    if kind == "input_audio":
        audio = object_of(block.get("input_audio"), f"{where}.input_audio")
        spelled = audio.get("format")
        kind = f"audio/{spelled}" if isinstance(spelled, str) else ""
        return _bytes(audio.get("data"), f"{where}.input_audio.data", files, kind)
    if kind in ("image", "document") and "source" in block:
        return _source(object_of(block["source"], f"{where}.source"), f"{where}.source", block, files)
    holder = block.get("image_url", block.get("file", block))
    at = f"{where}.{kind}" if holder is not block else where
    if isinstance(holder, str):
        return _at(holder, f"{where}.image_url", files)
    named = object_of(holder, at)
    name = optional_text(named.get("filename"), f"{at}.filename") or ""
    for key in ("url", "file_data", "file_url"):
        if named.get(key) is not None:
            return _at(text_of(named[key], f"{at}.{key}"), f"{at}.{key}", files, name)
    if (id := optional_text(named.get("file_id"), f"{at}.file_id")) is not None:
        return files.link("file", {"file_id": id})
    raise BadCall("This block names no file: it has neither bytes, nor an address, nor an id.", at)


def _source(source: Mapping[str, Any], where: str, block: Mapping[str, Any], files: RequestFiles) -> Part:
    """Parse Anthropic's `source` of a picture or document."""
    name = optional_text(block.get("title"), f"{where}.title") or ""
    match source.get("type"):
        case "base64":
            claimed = optional_text(source.get("media_type"), f"{where}.media_type") or ""
            return _bytes(source.get("data"), f"{where}.data", files, claimed, name)
        case "url":
            return _at(text_of(source.get("url"), f"{where}.url"), f"{where}.url", files, name)
        case "file":
            return files.link("file", {"file_id": text_of(source.get("file_id"), f"{where}.file_id")})
        case "text":
            content = text_of(source.get("data"), f"{where}.data").encode()
            return files.attach(content, f"{where}.data", "text/plain", name)
        case other:
            raise BadCall(f"A file does not come from “{str(other)[:40]}”.", f"{where}.type")


def _at(url: str, where: str, files: RequestFiles, name: str = "") -> Part:
    """Parse a URL: a data URL gives an attachment, any other only the address."""
    url = text_of(url, where)
    if not url:
        raise BadCall("This address is empty.", where)
    if url.startswith("data:"):
        no_base64 = "This data URL does not hold base64."
        if (found := data_url(url)) is None:
            raise BadCall(no_base64, where)
        return files.attach(_decoded(url.partition(",")[2], where, no_base64), where, found[1], name)
    return files.link("image_url", {"url": url})


def _bytes(value: Json, where: str, files: RequestFiles, claimed: str, name: str = "") -> Part:
    content = _decoded(text_of(value, where), where, "This is not base64.")
    return files.attach(content, where, claimed, name)


def _decoded(text: str, where: str, no_base64: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (ValueError, binascii.Error):
        raise BadCall(no_base64, where) from None


def _kind(value: Json) -> str:
    if value is None:
        return "nothing"
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "an object",
    }
    return names.get(type(value), "something else")
