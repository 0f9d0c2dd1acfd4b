"""Cursor's database (`state.vscdb`): a chat lists its bubbles, and each bubble is a message, a thought or a call.

A bubble also holds the state of the editor at that time, which is no part of what was said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import Chain
from forky_core.formats.contract import ParsedConversation, Result, Sample, SourceDocument, SourceFiles
from forky_core.formats.fields import count, kept_json, micros, obj, objs, picked, word, words
from forky_core.formats.files.json_values import parse
from forky_core.formats.files.tables import Tables, opened_tables
from forky_core.formats.leftovers import Program, names, unknown_role
from forky_core.formats.openai_messages import text_parts, tool_call
from forky_core.model import GenerationStatus, Role, Usage
from forky_core.model.parts import Json, Part, ReasoningPart, ToolResultPart

PROGRAM = Program("Cursor")
_ROLES: dict[int, Role] = {1: "user", 2: "assistant"}
_TABLE, _CHAT, _BUBBLE = "cursorDiskKV", "composerData:", "bubbleId:"
_BESIDE = names(
    "attachedCodeChunks attachedFileCodeChunksMetadataOnly images webReferences docsReferences"
    " interpreterResults errorDetails context todos"
)
_STATUS: dict[str, GenerationStatus] = {"cancelled": "stopped", "error": "interrupted"}


class Cursor:
    name: ClassVar[str] = "cursor"
    label: ClassVar[str] = "Cursor database"

    def fits(self, sample: Sample) -> bool:
        return _TABLE in sample.tables

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:  # noqa: ARG002 - it carries none
        with opened_tables(document) as tables:
            for row in tables.rows(_TABLE, where="key", starts=_CHAT):
                chat = obj(_json(row.get("value")))
                yield _chat(word(row.get("key")).removeprefix(_CHAT), chat, tables)


def _json(value: Json) -> Json:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    try:
        return parse(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _chat(id: str, chat: Mapping[str, Any], tables: Tables) -> ParsedConversation:
    chain = Chain()
    heads = objs(chat.get("fullConversationHeadersOnly")) or objs(chat.get("conversation"))
    keys = {f"{_BUBBLE}{id}:{word(head.get('bubbleId'))}": head for head in heads}
    stored = {key: found[0].get("value") for key, found in tables.of(_TABLE, "key", list(keys)).items()}
    inline = obj(chat.get("conversationMap"))
    model = word(obj(chat.get("modelConfig")).get("modelName"))
    for key, head in keys.items():
        bubble = obj(_json(stored.get(key))) or obj(inline.get(word(head.get("bubbleId")))) or head
        model = word(obj(bubble.get("modelInfo")).get("modelName")) or model
        kind = bubble.get("type", head.get("type"))
        role: Role = _ROLES.get(kind, "system") if isinstance(kind, int) else "system"
        tokens = obj(bubble.get("tokenCount"))
        chain.add(
            [*_parts(bubble), *([] if role != "system" else unknown_role(kind, PROGRAM, "type"))],
            role,
            id=word(head.get("bubbleId")),
            created=micros(bubble.get("createdAt"))
            or micros(obj(bubble.get("timingInfo")).get("clientEndTime")),
            model=model if role == "assistant" else "",
            usage=Usage(count(tokens.get("inputTokens")) or None, count(tokens.get("outputTokens")) or None),
            status=_STATUS.get(word(obj(bubble.get("toolFormerData")).get("status")), "done"),
            extra={
                **picked(bubble, *_BESIDE),
                **picked(obj(bubble.get("toolFormerData")), "userDecision", "additionalData"),
            },
        )
    return chain.conversation(
        id,
        word(chat.get("name")),
        created=micros(chat.get("createdAt")),
        model="" if model == "default" else model,
        extra=picked(chat, "subtitle", "text", "unifiedMode", "subagentInfo"),
    )


def _parts(bubble: Mapping[str, Any]) -> list[Part]:
    thoughts = [words(bubble.get("thinking"))] if words(bubble.get("thinking")).strip() else []
    thoughts = thoughts or [
        text for one in objs(bubble.get("allThinkingBlocks")) if (text := words(one)).strip()
    ]
    text = word(bubble.get("text")) or word(bubble.get("rawText"))
    if not text.strip() and not obj(bubble.get("toolFormerData")):
        text = "\n\n".join(
            f"```{word(block.get('languageId'))}\n{word(block.get('content'))}\n```"
            for block in objs(bubble.get("codeBlocks"))
            if word(block.get("content")).strip()
        )
    return [*map(ReasoningPart, thoughts), *text_parts(text), *_called(obj(bubble.get("toolFormerData")))]


def _called(call: Mapping[str, Any]) -> list[Part]:
    name, id = word(call.get("name")), word(call.get("toolCallId"))
    if not name:
        return []
    arguments = call.get("rawArgs") or call.get("params") or {}
    result = call.get("result")
    failed = words(call.get("error")) or None
    output = result if isinstance(result, str) else kept_json(result) if result else failed or ""
    results: list[Part] = [ToolResultPart(name, output, id or None, failed)] if output.strip() else []
    return [tool_call({"name": name, "args": arguments}, id), *results]
