"""Chatbox's backups: a key for each session, with its current messages, earlier threads, and forks at messages.

The same file holds settings with API keys: nothing but sessions is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import read_values, spread, usage_of
from forky_core.formats.contract import Node, ParsedConversation, Result, Sample, SourceDocument, SourceFiles
from forky_core.formats.fields import kept_json, micros, obj, objs, picked, ref, seq, word, words
from forky_core.formats.leftovers import Program, leftovers, names
from forky_core.formats.openai_messages import content_parts, tool_call
from forky_core.formats.roles import role_of
from forky_core.model.media import data_url
from forky_core.model.parts import Draft, Json, OpaquePart, Part, ReasoningPart, ToolResultPart

PROGRAM = Program(
    "Chatbox",
    frozenset(
        names(
            "wordCount tokenCount tokensUsed tokenCountMap tokenCalculatedAt firstTokenLatency generating"
            " isStreamingMode errorExtra updatedAt style isSummary cancel"
        )
    ),
)
_BESIDE = ("aiProvider", "error", "errorCode", "finishReason", "files", "links", "webBrowsing", "toolCalls")
_READ = frozenset(("content", "contentParts", "reasoningContent", "pictures", *_BESIDE))
_CALL = ("toolCallId", "toolName", "args", "result")
_SESSION = "session:"


class Chatbox:
    name: ClassVar[str] = "chatbox"
    label: ClassVar[str] = "Chatbox backup"

    def fits(self, sample: Sample) -> bool:
        return any(
            "__exported_at" in value
            or "chat-sessions-list" in value
            or any(key.startswith(_SESSION) for key in value)
            for value in sample.objects
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        return read_values(document, lambda value: _sessions(obj(value), files))


def _sessions(value: Mapping[str, Any], files: SourceFiles) -> Iterator[Result]:
    for key, session in value.items():
        if key.startswith(_SESSION) and isinstance(session, dict):
            yield _session(session, key.removeprefix(_SESSION), files)
    for session in objs(value.get("chat-sessions")):  # The older format, a list.
        yield _session(session, "", files)


def _session(session: Mapping[str, Any], key: str, files: SourceFiles) -> ParsedConversation:
    lines = _MessageLines(files)
    names: dict[str, str] = {}
    for number, thread in enumerate(objs(session.get("threads")), 1):
        last = lines.add(thread.get("messages"), None)
        if last is not None:
            names[word(thread.get("name")) or f"thread {number}"] = last
    forks = obj(session.get("messageForksHash")).items()
    for id, fork in forks:
        lines.fork(id, fork, before=True)
    live = lines.add(session.get("messages"), None)
    for id, fork in forks:
        lines.fork(id, fork, before=False)
    return ParsedConversation(
        source_id=word(session.get("id")) or key,
        title=word(session.get("name")) or word(session.get("threadName")),
        nodes=tuple(lines.nodes),
        current=live,
        names=names,
        extra=picked(session, "type", "starred"),
    )


class _MessageLines:
    """Lines of messages, each below the message it branches off."""

    def __init__(self, files: SourceFiles) -> None:
        self.files = files
        self.nodes: list[Node] = []

    def add(self, messages: Json, parent: str | None) -> str | None:
        """Add a line of messages; returns the id of the last one, or None if there is none."""
        last = None
        for message in objs(messages):
            id = word(message.get("id")) or f"#{len(self.nodes) + 1}"
            self.nodes += _nodes(id, parent, message, self.files)
            parent = last = id
        return last

    def fork(self, id: str, fork: Json, *, before: bool) -> None:
        """Add the lines below a message that precede the current one, or follow it; the session itself has the current
        one.
        """
        position = obj(fork).get("position")
        live = position if type(position) is int else -1
        for number, line in enumerate(seq(obj(fork).get("lists"))):
            if number != live and (number < live) == before:
                self.add(obj(line).get("messages"), id)


def _nodes(id: str, parent: str | None, message: Mapping[str, Any], files: SourceFiles) -> list[Node]:
    role = role_of(message.get("role"))
    failed = bool(message.get("error")) or bool(message.get("errorCode"))
    node = Node(
        id,
        parent,
        Draft(role, ()),
        created=micros(message.get("timestamp")),
        model=word(message.get("model")) if role == "assistant" else "",
        status="interrupted" if failed and role == "assistant" else "done",
        usage=usage_of(message.get("usage")),
        failure=word(message.get("error")) if role == "assistant" else "",
        extra=picked(message, *_BESIDE),
    )
    return spread(node, [*_parts(message, files), *leftovers(message, _READ, PROGRAM)], role)


def _parts(message: Mapping[str, Any], files: SourceFiles) -> list[Part]:
    blocks = objs(message.get("contentParts"))
    if not blocks:
        thought = words(message.get("reasoningContent"))
        before: list[Part] = [ReasoningPart(thought)] if thought.strip() else []
        return [*before, *content_parts(message.get("content"), files, PROGRAM), *_pictures(message, files)]
    parts: list[Part] = []
    for block in blocks:
        match word(block.get("type")):
            case "tool-call":
                id = word(block.get("toolCallId"))
                name = word(block.get("toolName")) or "unknown"
                parts.append(tool_call({"name": name, "arguments": block.get("args", "")}, id))
                result = block.get("result")
                if result is not None:
                    output = result if isinstance(result, str) else kept_json(result)
                    failed = output if block.get("state") == "error" else None
                    parts.append(ToolResultPart(name, output, ref(id), failed))
                parts += leftovers(block, _CALL, PROGRAM, within="contentParts.")
            case "image":
                parts.append(_picture(block, files))
            case "info":
                continue  # A note of the program's.
            case _:
                parts += content_parts([block], files, PROGRAM)
    return [*parts, *_pictures(message, files)]


def _pictures(message: Mapping[str, Any], files: SourceFiles) -> list[Part]:
    return [_picture({**one, "type": "image"}, files) for one in objs(message.get("pictures"))]


def _picture(block: Mapping[str, Any], files: SourceFiles) -> Part:
    found = data_url(word(block.get("url")))
    part = files.attach_bytes(*found) if found else None
    return part if part is not None else OpaquePart(kept_json(dict(block)))
