"""Claude.ai's data export, old (a flat list) and new (`parent_message_uuid`), and what browser exporters write.

`content` is authoritative, `text` repeats it or is empty. Tool results are inside the assistant's message and become
messages of the tool.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import no_messages, read_values, spread
from forky_core.formats.contract import Node, ParsedConversation, Result, Sample, SourceDocument, SourceFiles
from forky_core.formats.fields import kept_json, micros, obj, objs, picked, ref, word, words
from forky_core.formats.leftovers import Program, leftovers, names, repeats, unknown_role
from forky_core.formats.openai_messages import content_parts, text_parts
from forky_core.formats.roles import role_of
from forky_core.model.parts import Draft, OpaquePart, Part, ReasoningPart, TextPart

ROOT = "00000000-0000-4000-8000-000000000000"
_OFF = frozenset(("token_budget",))
"""Blocks without any content of the conversation."""


PROGRAM = Program(
    "Claude",
    frozenset(
        names(
            "approval_key approval_options citations_grouping_mode alternative_display_type cut_off"
            " display_content flags icon_name integration_name integration_icon_url is_mcp_app"
            " mcp_server_url message meta remaining context title start_timestamp stop_timestamp"
            " truncated summaries citations"
        )
    ),
)
"""Fields about how a block is displayed, and digests of thoughts whose text is there; citations are kept separately."""
_READ = frozenset(
    (
        *("sender", "content", "text", "attachments", "files", "files_v2", "parent_message_uuid"),
        *("account", "project_uuid"),
    )
)
_PLACEHOLDER = "not supported on your current device"
"""A text that contains this replaces blocks which the export has in full."""


class ClaudeAI:
    name: ClassVar[str] = "claude-ai"
    label: ClassVar[str] = "Claude export"

    def fits(self, sample: Sample) -> bool:
        return any(isinstance(value.get("chat_messages"), list) for value in sample.objects)

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        return read_values(document, lambda value: [_conversation(obj(value), files)])


def _conversation(value: Mapping[str, Any], files: SourceFiles) -> Result:
    if not isinstance(value.get("chat_messages"), list):
        return no_messages(value, "chat_messages", titled="name")
    messages = objs(value["chat_messages"])
    tree = any("parent_message_uuid" in message for message in messages)
    nodes: list[Node] = []
    before: str | None = None
    for number, message in enumerate(messages, 1):
        id = word(message.get("uuid")) or f"#{number}"
        parent = _parent(message, before) if tree else before
        nodes += _nodes(id, parent, message, value, files)
        before = id
    return ParsedConversation(
        source_id=word(value.get("uuid")),
        title=word(value.get("name")),
        nodes=tuple(nodes),
        current=ref(value.get("current_leaf_message_uuid")) or (None if tree else before),
        created=micros(value.get("created_at")),
        model=word(value.get("model")),
        extra=picked(value, "summary", "updated_at", "is_starred", "project_uuid"),
    )


def _parent(message: Mapping[str, Any], before: str | None) -> str | None:
    """The parent's id. Some archives name it on some messages only; the others follow the one before."""
    if "parent_message_uuid" not in message:
        return before
    parent = ref(message["parent_message_uuid"])
    return None if parent == ROOT else parent


def _nodes(
    id: str, parent: str | None, message: Mapping[str, Any], value: Mapping[str, Any], files: SourceFiles
) -> list[Node]:
    role = role_of(message.get("sender"))
    blocks = [_as_text(one) for one in objs(message.get("content")) if word(one.get("type")) not in _OFF]
    text, content = words(message.get("text")), message.get("content")
    parts = content_parts(content if isinstance(content, str) else blocks, files, PROGRAM)
    known = set(_READ)
    if not parts:
        parts = text_parts(text)
    elif not repeats(text, "\n".join(map(_words, parts)), but=_PLACEHOLDER):
        known.remove("text")
    parts += [*leftovers(message, known, PROGRAM), *unknown_role(message.get("sender"), PROGRAM, "sender")]
    node = Node(
        id,
        parent,
        Draft(role, ()),
        created=micros(message.get("created_at")),
        model=(word(message.get("model")) or word(value.get("model"))) if role == "assistant" else "",
        status="interrupted" if message.get("truncated") is True else "done",
        extra={
            **picked(message, "updated_at", "files", "files_v2", "stop_reason"),
            **_beside(message, blocks),
        },
    )
    return spread(node, [*_attached(message, files), *parts], role)


def _as_text(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """A block; what somebody said aloud, and what a search found, as text."""
    if block.get("type") == "tool_result":
        return {
            **block,
            "content": [_as_text(one) for one in objs(block.get("content"))] or block.get("content"),
        }
    if block.get("type") not in ("voice_note", "knowledge"):
        return block
    said = (block.get("url"), block.get("text"))
    return {"type": "text", "text": "\n".join(filter(None, map(word, said)))}


def _words(part: Part) -> str:
    return part.text if isinstance(part, TextPart | ReasoningPart) else ""


def _beside(message: Mapping[str, Any], blocks: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Content without a part type: citations, search results with their addresses, files without their text."""
    cited = [block["citations"] for block in blocks if block.get("citations")]
    found = [
        block["content"]
        for block in blocks
        if word(block.get("type")) == "tool_result"
        and any(one.keys() - {"type", "text", "uuid"} for one in objs(block.get("content")))
    ]
    named = [
        {key: value for key, value in entry.items() if key != "extracted_content"}
        for entry in objs(message.get("attachments"))
    ]
    return picked(
        {"citations": cited, "results": found, "attachments": named}, "citations", "results", "attachments"
    )


def _attached(message: Mapping[str, Any], files: SourceFiles) -> list[Part]:
    """Attachments whose text the export includes, and the names of other files, of which it has nothing more."""
    known = {entry.get("file_name") for entry in objs(message.get("attachments"))}
    parts: list[Part] = [
        OpaquePart(kept_json({**picked(entry, "file_uuid", "file_name"), "type": "file"}))
        for entry in objs(message.get("files_v2")) or objs(message.get("files"))
        if entry.get("file_name") not in known
    ]
    for entry in objs(message.get("attachments")):
        text, name = word(entry.get("extracted_content")), word(entry.get("file_name"))
        part = files.attach_bytes(text.encode("utf-8", "replace"), "text/plain", name or "attachment.txt")
        parts += [part] if part is not None else []
    return parts
