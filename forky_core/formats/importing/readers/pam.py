"""Portable AI Memory conversations: messages with one parent, thoughts, calls with their output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import spread
from forky_core.formats.contract import (
    Node,
    ParsedConversation,
    Sample,
    SourceDocument,
    SourceFiles,
    Unreadable,
)
from forky_core.formats.fields import micros, obj, objs, picked, ref, word, words
from forky_core.formats.leftovers import Program, leftovers
from forky_core.formats.openai_messages import content_parts, text_parts, tool_call
from forky_core.formats.roles import role_of
from forky_core.model.parts import Draft, ReasoningPart, TextPart, ToolResultPart

PROGRAM = Program("Portable AI Memory", frozenset(("children_ids",)))
_BESIDE = ("citations", "attachments", "provider_message_id", "raw_metadata")
_READ = frozenset(("content", "parent_id", "is_thought", "tool_calls", *_BESIDE))
SCHEMA = "portable-ai-memory-conversation"


class PortableAIMemory:
    name: ClassVar[str] = "pam"
    label: ClassVar[str] = "Portable AI Memory"

    def fits(self, sample: Sample) -> bool:
        return any(value.get("schema") == SCHEMA for value in sample.objects)

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[ParsedConversation | Unreadable]:
        for value in document.values():
            if isinstance(value, Unreadable):
                yield value
            else:
                yield _conversation(obj(value), files)


def _conversation(value: Mapping[str, Any], files: SourceFiles) -> ParsedConversation:
    nodes: list[Node] = []
    for number, message in enumerate(objs(value.get("messages")), 1):
        nodes += _nodes(message, f"#{number}", files)
    return ParsedConversation(
        source_id=word(value.get("id")),
        title=word(value.get("title")),
        nodes=tuple(nodes),
        created=micros(obj(value.get("temporal")).get("created_at")),
        system=word(value.get("system_instruction")) or None,
        model=word(value.get("model")),
        extra=picked(value, "tags", "is_archived", "participants"),
    )


def _nodes(message: Mapping[str, Any], otherwise: str, files: SourceFiles) -> list[Node]:
    role = role_of(message.get("role"))
    said = message.get("content")
    content = obj(said)
    text = said if isinstance(said, str) else words(content.get("text"))
    pieces = content_parts(content.get("parts"), files, PROGRAM)
    same = [part for part in pieces if isinstance(part, TextPart) and part.text.strip() in text]
    parts = [*text_parts(text), *(part for part in pieces if part not in same)]
    if message.get("is_thought") is True:
        parts = [ReasoningPart(part.text) if isinstance(part, TextPart) else part for part in parts]
    parts += leftovers(content, ("text", "parts"), PROGRAM, within="content.")
    for call in objs(message.get("tool_calls")):
        parts.append(tool_call(call, word(call.get("id"))))
        output = words(call.get("output"))
        if output:
            parts.append(ToolResultPart(word(call.get("name")), output, ref(call.get("id"))))
        parts += leftovers(call, ("name", "input", "arguments", "output"), PROGRAM, within="tool_calls.")
    parts += leftovers(message, _READ, PROGRAM)
    node = Node(
        word(message.get("id")) or otherwise,
        ref(message.get("parent_id")),
        Draft(role, ()),
        created=micros(message.get("created_at")),
        model=word(message.get("model")) if role == "assistant" else "",
        extra=picked(message, *_BESIDE),
    )
    return spread(node, parts, role)
