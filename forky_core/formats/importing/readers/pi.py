"""pi's sessions: JSON Lines, a tree by `parentId` since their second version, a list of entries before.

Entries that are no messages (a change of the model, a label) are links of the chain. The summary of a branch or a
compaction was sent to the model, so it is a message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import spread, unknown_line, usage_of
from forky_core.formats.contract import (
    Node,
    ParsedConversation,
    Result,
    Sample,
    SourceDocument,
    SourceFiles,
    Unreadable,
)
from forky_core.formats.fields import micros, obj, objs, picked, ref, word, words, wrapped
from forky_core.formats.leftovers import Program, leftovers
from forky_core.formats.openai_messages import content_parts, text_parts
from forky_core.formats.roles import role_of
from forky_core.model import GenerationStatus, Role
from forky_core.model.parts import Draft, Json, Part, TextPart, ToolResultPart

PROGRAM = Program("pi", frozenset(("parentId", "parentSession", "api", "responseId", "thinkingLevel", "cwd")))
_BESIDE = ("provider", "errorMessage", "exitCode", "customType", "details")
_READ = frozenset(
    (
        *("content", "command", "output", "summary", "display", "excludeFromContext", "isError", "toolName"),
        *("toolCallId", "stopReason", "cancelled", "truncated", "fullOutputPath", "fromHook", *_BESIDE),
    )
)
NOTE = "It records a setting, no message."
_STATUS: dict[str, GenerationStatus] = {"aborted": "stopped", "error": "interrupted"}
_SETTINGS = frozenset(
    ("model_change", "thinking_level_change", "active_tools_change", "label", "session_info", "custom")
)
_ROLES = frozenset(
    ("toolResult", "bashExecution", "branchSummary", "compactionSummary", "custom", "hookMessage")
)
"""Words for who speaks that only pi has."""
_SUMMARIES = frozenset(("compaction", "branch_summary"))


class Pi:
    name: ClassVar[str] = "pi"
    label: ClassVar[str] = "pi session"

    def fits(self, sample: Sample) -> bool:
        first = next(iter(sample.objects), {})
        return (
            sample.shape == "lines"
            and first.get("type") == "session"
            and "harness" not in first
            and ("version" in first or "cwd" in first)
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        header: Mapping[str, Any] = {}
        entries: list[Mapping[str, Any]] = []
        for value in document.values():
            if isinstance(value, Unreadable):
                yield value
            elif obj(value).get("type") == "session":
                header = header or obj(value)
            elif value:
                entries.append(wrapped(value))
        yield _session(header, entries, files)


def _session(
    header: Mapping[str, Any], entries: list[Mapping[str, Any]], files: SourceFiles
) -> ParsedConversation:
    nodes: list[Node] = []
    names: dict[str, str] = {}
    title, before = "", None
    for number, line in enumerate(entries, 1):
        id = word(line.get("id")) or f"#{number}"
        parent = ref(line.get("parentId")) if "parentId" in line else before
        nodes += _nodes(id, parent, line, files)
        if line.get("type") == "label":
            names[word(line.get("label"))] = word(line.get("targetId"))
        elif line.get("type") == "session_info":
            title = word(line.get("name")) or title
        before = id
    return ParsedConversation(
        source_id=word(header.get("id")),
        title=title,
        nodes=tuple(nodes),
        current=before,
        created=micros(header.get("timestamp")),
        names={name: target for name, target in names.items() if name and target},
        extra=picked(header, "version"),
        folder=word(header.get("cwd")),
    )


def _nodes(id: str, parent: str | None, line: Mapping[str, Any], files: SourceFiles) -> list[Node]:
    kind, at = word(line.get("type")), micros(line.get("timestamp"))
    if kind in _SUMMARIES:
        about = ("firstKeptEntryId", "fromId", "tokensBefore", "details")
        parts = [*text_parts(word(line.get("summary"))), *leftovers(line, ("summary", *about), PROGRAM)]
        draft = Draft("user", tuple(parts))
        extra = {"type": kind, **picked(line, *about)}
        # The conversation itself is above a compaction.
        return [Node(id, parent, draft, created=at, hidden=kind == "compaction", extra=extra)]
    if kind == "custom_message":
        parts = content_parts(line.get("content"), files, PROGRAM)
        parts += leftovers(line, ("content", "customType", "details", "display"), PROGRAM)
        draft = Draft("user", tuple(parts))
        hidden = line.get("display") is False
        return [
            Node(id, parent, draft, created=at, hidden=hidden, extra=picked(line, "customType", "details"))
        ]
    message = obj(line.get("message"))
    if kind in _SETTINGS:
        return [Node(id, parent, None, why=NOTE)]
    if kind != "message" or not message:
        return [unknown_line(id, parent, line, PROGRAM)]
    role, parts = _said(message, files)
    node = Node(
        id,
        parent,
        Draft(role, ()),
        created=at or micros(message.get("timestamp")),
        model=word(message.get("model")) if role == "assistant" else "",
        status=_STATUS.get(word(message.get("stopReason")), "done"),
        usage=usage_of(message.get("usage")),
        hidden=message.get("excludeFromContext") is True or message.get("display") is False,
        extra=picked(message, *_BESIDE),
        failure=word(message.get("errorMessage")) if role == "assistant" else "",
    )
    known = {*_READ, "role"} if word(message.get("role")) in _ROLES else _READ
    around = leftovers(line, ("message",), PROGRAM)
    return spread(node, [*parts, *leftovers(message, known, PROGRAM), *around], role)


def _said(message: Mapping[str, Any], files: SourceFiles) -> tuple[Role, list[Part]]:
    content = message.get("content")
    match message.get("role"):
        case "assistant":
            return "assistant", content_parts([_block(one) for one in _blocks(content)], files, PROGRAM)
        case "toolResult":
            output = words(content)
            failed = output if message.get("isError") is True else None
            id = ref(message.get("toolCallId"))
            result = ToolResultPart(word(message.get("toolName")), output, id, failed)
            shown = [_block(one) for one in objs(content) if not words([one]).strip()]
            return "tool", [result, *content_parts(shown, files, PROGRAM)]
        case "bashExecution":
            ran = f"$ {word(message.get('command'))}\n\n{word(message.get('output'))}".rstrip()
            return "user", [TextPart(ran)]
        case "branchSummary" | "compactionSummary":
            return "user", text_parts(word(message.get("summary")))
        case said:
            role: Role = "user" if word(said) in _ROLES else role_of(said)
            return role, content_parts([_block(one) for one in _blocks(content)], files, PROGRAM)


def _blocks(content: Json) -> list[Json]:
    return content if isinstance(content, list) else [content]


def _block(block: Json) -> Json:
    """The block with the name that Anthropic gives its type."""
    kind = obj(block).get("type")
    if kind == "toolCall":
        return {**block, "type": "tool_use", "input": block.get("arguments")}
    if kind == "image" and "data" in block:
        source = {"type": "base64", "data": block["data"], "media_type": block.get("mimeType")}
        return {"type": "image", "source": source}
    return block
