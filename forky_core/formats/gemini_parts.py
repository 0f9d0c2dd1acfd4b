"""The parts of a content in the format of Google's Gemini API (shared by importers)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forky_core.formats.contract import SourceFiles
from forky_core.formats.fields import kept_json, obj, word, words
from forky_core.formats.leftovers import Program, leftovers, names
from forky_core.formats.openai_messages import content_parts, text_parts, tool_call
from forky_core.model.parts import Json, OpaquePart, Part, ToolResultPart

_FIELDS = names(
    "functionCall functionResponse executableCode codeExecutionResult fileData thoughtSignature thought"
)


def gemini_parts(content: Json, files: SourceFiles, program: Program) -> list[Part]:
    """The parts of a text, a part or a list of them."""
    parts: list[Part] = []
    for one in content if isinstance(content, list) else [content]:
        if isinstance(one, str):
            parts += text_parts(one)
        elif isinstance(one, dict):
            parts += _part(one, files, program)
    return parts


def gemini_result(response: Json, name: str, id: str) -> list[Part]:
    """The result of a call, from the value that the model is sent; none for an empty one."""
    entry = obj(response)
    failed = words(entry.get("error"))
    output = words(entry.get("output")) or failed or words(response)
    if set(entry) - {"output", "error"} or (entry and not output):
        output = kept_json(response) if any(entry.values()) else ""
    return [ToolResultPart(name, output, id or None, failed or None)] if output else []


def _part(part: Mapping[str, Any], files: SourceFiles, program: Program) -> list[Part]:
    known = [name for name in _FIELDS if isinstance(part.get(name), dict)]
    plain = {name: value for name, value in part.items() if name not in known}
    said: list[Part] = content_parts([plain], files, program) if plain else []
    call, result = obj(part.get("functionCall")), obj(part.get("functionResponse"))
    if call:
        said.append(tool_call(call, word(call.get("id"))))
        said += leftovers(call, ("args",), program, within="functionCall.")
    if result:
        said += gemini_result(result.get("response"), word(result.get("name")), word(result.get("id")))
        said += gemini_parts(result.get("parts"), files, program)
        said += leftovers(result, ("response", "parts"), program, within="functionResponse.")
    if "executableCode" in known:
        said.append(tool_call({"name": "code", "args": part["executableCode"]}, ""))
    if "codeExecutionResult" in known:
        said.append(ToolResultPart("code", kept_json(part["codeExecutionResult"])))
    if "fileData" in known:
        said.append(OpaquePart(kept_json({**part["fileData"], "type": "file"})))
    return said
