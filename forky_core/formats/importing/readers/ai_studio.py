"""Google AI Studio's prompts: `chunkedPrompt.chunks`, one after another or below their `branchParent`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, ClassVar

from forky_core.formats.chaining import read_values, spread
from forky_core.formats.contract import Node, ParsedConversation, Result, Sample, SourceDocument, SourceFiles
from forky_core.formats.fields import count, kept_json, micros, obj, objs, picked, word, words
from forky_core.formats.leftovers import Program, leftovers
from forky_core.formats.openai_messages import text_parts
from forky_core.formats.roles import role_of
from forky_core.model import Usage
from forky_core.model.media import decoded
from forky_core.model.parts import Draft, Json, OpaquePart, Part, ReasoningPart, ToolCallPart, ToolResultPart

PROGRAM = Program(
    "Google AI Studio", frozenset(("thoughtSignature", "thoughtSignatures", "safetyRatings", "videoMetadata"))
)
_BESIDE = ("branchParent", "branchChildren", "errorMessage", "finishReason", "grounding")
_INLINE = ("inlineImage", "inlineFile", "inlineAudio", "inlineData")
_CODE = ("executableCode", "codeExecutionResult")
_READ = frozenset(("text", "parts", *_BESIDE, *_INLINE, *_CODE))
_TOOL = "code_execution"
_OK = frozenset(("", "OUTCOME_OK"))


class AIStudio:
    name: ClassVar[str] = "ai-studio"
    label: ClassVar[str] = "Google AI Studio prompt"

    def fits(self, sample: Sample) -> bool:
        return any(
            isinstance(obj(value.get("chunkedPrompt")).get("chunks"), list) for value in sample.objects
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        stem = PurePosixPath(document.name).stem
        return read_values(document, lambda value: [_prompt(obj(value), stem, files)])


def _prompt(value: Mapping[str, Any], stem: str, files: SourceFiles) -> ParsedConversation:
    chunks = objs(obj(value.get("chunkedPrompt")).get("chunks"))
    known = {word(chunk.get("id")) for chunk in chunks} - {""}
    model = word(obj(value.get("runSettings")).get("model"))
    nodes: list[Node] = []
    before: str | None = None
    for number, chunk in enumerate(chunks, 1):
        id = word(chunk.get("id")) or f"#{number}"
        named = word(obj(chunk.get("branchParent")).get("id"))
        # The parent may be in another file: then it only says where this one was copied from.
        nodes += _nodes(id, named if named in known else before, chunk, model, files)
        before = id
    system = obj(value.get("systemInstruction"))
    return ParsedConversation(
        source_id=word(value.get("id")),
        title=word(value.get("displayName")) or word(value.get("title")) or stem,
        nodes=tuple(nodes),
        current=before,
        created=micros(value.get("createTime")),
        system=words(system.get("parts")) or word(system.get("text")) or None,
        model=model,
        extra=picked(value, "branchParent", "branchChildren", "updateTime"),
    )


def _nodes(
    id: str, parent: str | None, chunk: Mapping[str, Any], model: str, files: SourceFiles
) -> list[Node]:
    role = role_of(chunk.get("role"))
    node = Node(
        id,
        parent,
        Draft(role, ()),
        created=micros(chunk.get("createTime")),
        model=model if role == "assistant" else "",
        status="interrupted" if chunk.get("errorMessage") and role == "assistant" else "done",
        usage=Usage(completion_tokens=count(chunk.get("tokenCount"))) if role == "assistant" else Usage(),
        failure=word(chunk.get("errorMessage")) if role == "assistant" else "",
        extra=picked(chunk, *_BESIDE),
    )
    return spread(node, _parts(chunk, files), role)


def _parts(chunk: Mapping[str, Any], files: SourceFiles) -> list[Part]:
    text, pieces = words(chunk.get("text")), objs(chunk.get("parts"))
    all_thought = chunk.get("isThought") is True
    apart = not text.strip() or (not all_thought and any(piece.get("thought") is True for piece in pieces))
    parts: list[Part] = []
    if not apart:
        parts = [ReasoningPart(text)] if all_thought else text_parts(text)
    for piece in pieces:
        said = words(piece.get("text"))
        thought = all_thought or piece.get("thought") is True
        if said.strip() and (apart or said.strip() not in text):
            parts += [ReasoningPart(said)] if thought else text_parts(said)
        parts += [*_inline(piece.get("inlineData"), files), *_ran(piece)]
        parts += leftovers(piece, ("text", "thought", "inlineData", *_CODE), PROGRAM, within="parts.")
    named = {key for key, entry in chunk.items() if key.startswith(("drive", "youtube")) and obj(entry)}
    for key, entry in chunk.items():
        if key in _INLINE:
            parts += _inline(entry, files)
        elif key in named:
            parts.append(OpaquePart(kept_json({**entry, "type": key})))
    return [*parts, *_ran(chunk), *leftovers(chunk, _READ | named, PROGRAM)]


def _ran(chunk: Mapping[str, Any]) -> list[Part]:
    """Code that the model ran, and its output."""
    parts: list[Part] = []
    code, result = obj(chunk.get("executableCode")), obj(chunk.get("codeExecutionResult"))
    if code:
        parts.append(ToolCallPart(_TOOL, kept_json(dict(code))))
    if result:
        output = word(result.get("output"))
        failed = word(result.get("outcome"))
        parts.append(ToolResultPart(_TOOL, output, exception=None if failed in _OK else failed))
        parts += leftovers(result, ("output", "outcome"), PROGRAM, within="codeExecutionResult.")
    return parts


def _inline(entry: Json, files: SourceFiles) -> list[Part]:
    content = decoded(word(obj(entry).get("data")))
    part = files.attach_bytes(content or b"", word(obj(entry).get("mimeType")))
    return [part] if part is not None else []
