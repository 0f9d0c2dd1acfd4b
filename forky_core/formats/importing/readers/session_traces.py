"""Session traces: the JSON Lines of llama.cpp's web UI and of the Hugging Face Hub, and llama.cpp's older JSON.

llama.cpp's messages are a tree (`parent`, `currNode`); the Hub's format has no branches: each line follows the one
before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import read_values, spread, unknown_line
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
from forky_core.formats.files.json_values import parse
from forky_core.formats.leftovers import Program, leftovers
from forky_core.formats.openai_messages import content_parts, tool_calls
from forky_core.formats.roles import role_of
from forky_core.model.media import data_url, decoded
from forky_core.model.parts import Draft, Json, Part, ReasoningPart, ToolResultPart

PROGRAM = Program(
    "llama.cpp or a session trace",
    frozenset(("convId", "children", "thinking", "completionId", "lastModified")),
)
_READ = frozenset(("content", "parent", "reasoningContent", "toolCalls", "toolCallId", "extra", "timings"))


_UNKNOWN = "unknown line"


class SessionTraces:
    name: ClassVar[str] = "session-traces"
    label: ClassVar[str] = "Session trace (llama.cpp, Hugging Face)"

    def fits(self, sample: Sample) -> bool:
        if sample.shape == "lines":
            first = next(iter(sample.objects), {})
            return first.get("type") == "session" and "harness" in first
        return any(
            isinstance(value.get("conv"), dict) and isinstance(value.get("messages"), list)
            for value in sample.objects
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        if document.shape == "lines":
            return _sessions(document.values(), files)
        return read_values(
            document,
            lambda value: [
                _conversation(obj(obj(value).get("conv")), objs(obj(value).get("messages")), files)
            ],
        )


def _sessions(values: Iterable[Json | Unreadable], files: SourceFiles) -> Iterator[Result]:
    """A file holds one session; if several were concatenated, each header begins another."""
    header: Mapping[str, Any] | None = None
    messages: list[Mapping[str, Any]] = []
    for value in values:
        if isinstance(value, Unreadable):
            yield value
            continue
        line = wrapped(value)
        if line.get("type") == "session":
            if header is not None:
                yield _conversation(header, messages, files)
            header, messages = line, []
        else:
            is_message = line.get("type") == "message" and obj(line.get("message"))
            messages.append(line["message"] if is_message else {"type": _UNKNOWN, _UNKNOWN: line})
    if header is not None:
        yield _conversation(header, messages, files)


def _conversation(
    header: Mapping[str, Any], messages: Iterable[Mapping[str, Any]], files: SourceFiles
) -> ParsedConversation:
    nodes: list[Node] = []
    before: str | None = None
    for number, message in enumerate(messages, 1):
        id = word(message.get("id")) or f"#{number}"
        parent = ref(message.get("parent")) if "parent" in message else before
        nodes += _nodes(id, parent, message, files)
        before = id
    return ParsedConversation(
        source_id=word(header.get("id")),
        title=word(header.get("name")),
        nodes=tuple(nodes),
        current=ref(header.get("currNode")) or before,
        created=micros(header.get("created")) or micros(header.get("lastModified")),
        extra=picked(header, "harness", "lastModified", "forkedFromConversationId"),
    )


def _nodes(id: str, parent: str | None, message: Mapping[str, Any], files: SourceFiles) -> list[Node]:
    if _UNKNOWN in message:
        return [unknown_line(id, parent, message[_UNKNOWN], PROGRAM)]
    if message.get("type") == "root":
        said = content_parts(message.get("content"), files, PROGRAM)
        return [Node(id, parent, Draft("system", tuple(said)) if said else None)]
    role = role_of(message.get("role"))
    parts: list[Part] = []
    thought = words(message.get("reasoningContent"))
    if thought.strip():
        parts.append(ReasoningPart(thought))
    if role == "tool":
        parts.append(
            ToolResultPart(
                word(message.get("name")), words(message.get("content")), ref(message.get("toolCallId"))
            )
        )
    else:
        parts += [*_extras(message, files), *content_parts(message.get("content"), files, PROGRAM)]
    parts += tool_calls(_calls(message), PROGRAM)
    parts += leftovers(message, _READ, PROGRAM)
    node = Node(
        id,
        parent,
        Draft(role, ()),
        created=micros(message.get("timestamp")),
        model=word(message.get("model")) if role == "assistant" else "",
        extra=picked(message, "timings"),
    )
    return spread(node, parts, role)


def _calls(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A list of calls; in old files it is encoded as a text."""
    calls = message.get("toolCalls")
    if isinstance(calls, str):
        try:
            calls = parse(calls)
        except ValueError:
            return []
    return objs(calls)


def _extras(message: Mapping[str, Any], files: SourceFiles) -> list[Part]:
    parts: list[Part] = []
    for entry in objs(message.get("extra")):
        name = word(entry.get("name"))
        text = word(entry.get("content"))
        content, media = data_url(word(entry.get("base64Url"))) or (b"", word(entry.get("mimeType")))
        if not content:
            content = (
                (decoded(word(entry.get("base64Data"))) or b"")
                if entry.get("base64Data")
                else text.encode("utf-8", "replace")
            )
        part = files.attach_bytes(content, media or ("text/plain" if text else ""), name)
        parts += [part] if part is not None else []
    return parts
