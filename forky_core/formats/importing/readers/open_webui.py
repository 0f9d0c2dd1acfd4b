"""Open WebUI's exports, and its database: `history.messages` by id, edges by `parentId`, the checked-out end
`currentId`.

Newer answers have `output`, a list of thoughts, calls, results and text; older ones have the same in `content` as
`<details>` blocks, which are parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import no_messages, spread, usage_of
from forky_core.formats.contract import (
    Node,
    ParsedConversation,
    Result,
    Sample,
    SourceDocument,
    SourceFiles,
    Unreadable,
)
from forky_core.formats.fields import (
    kept_json,
    micros,
    obj,
    objs,
    picked,
    plain,
    ref,
    seq,
    word,
    words,
    wrapped,
)
from forky_core.formats.files.json_values import parse
from forky_core.formats.files.tables import opened_tables
from forky_core.formats.leftovers import Program, leftovers, names, repeated_fields, repeats
from forky_core.formats.openai_messages import content_parts, text_parts, tool_call
from forky_core.formats.roles import role_of
from forky_core.model.media import data_url
from forky_core.model.parts import (
    Draft,
    Json,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    arguments_json,
)

PROGRAM = Program(
    "Open WebUI",
    frozenset(
        names(
            "attributes start_tag end_tag selectedModelId modelIndex models favorite feedbackId"
            " lastSentence parentId childrenIds done user userContext arena"
        )
    ),
)
_BESIDE = names(
    "sources statusHistory followUps modelName modelIdx error citations code_executions annotation"
    " originalContent info"
)
_READ = frozenset(("content", "output", "files", *_BESIDE))
_TABLES = frozenset(("chat", "auth", "user"))
_DETAILS = re.compile(r"<details\b([^>]{0,20000})>(.*?)</details>\s*", re.DOTALL)
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_SUMMARY = re.compile(r"\s*<summary>.*?</summary>\s*", re.DOTALL)
_QUOTED = re.compile(r"^> ?", re.MULTILINE)


class OpenWebUI:
    name: ClassVar[str] = "open-webui"
    label: ClassVar[str] = "Open WebUI export"

    def fits(self, sample: Sample) -> bool:
        if sample.shape == "sqlite":
            return sample.tables >= _TABLES
        return any(isinstance(_history(value).get("messages"), dict) for value in sample.objects)

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        for value in _rows(document) if document.shape == "sqlite" else document.values():
            yield value if isinstance(value, Unreadable) else _conversation(obj(value), files)


def _rows(document: SourceDocument) -> Iterator[Json | Unreadable]:
    """The chats of `webui.db`, in the format of an export. Its other tables, with accounts and keys, are not read."""
    with opened_tables(document) as tables:
        for row in tables.rows("chat", order="created_at"):
            try:
                yield {**row, "chat": parse(word(row.get("chat")))}
            except ValueError:
                yield Unreadable(word(row.get("title")) or "untitled", "Its messages are no valid JSON.")


def _history(value: Mapping[str, Any]) -> Mapping[str, Any]:
    return obj((obj(value.get("chat")) or value).get("history"))


def _conversation(value: Mapping[str, Any], files: SourceFiles) -> Result:
    if not isinstance(_history(value).get("messages"), dict):
        return no_messages(value, "history")
    chat, history = obj(value.get("chat")) or value, _history(value)
    entries = {word(id): wrapped(found) for id, found in obj(history["messages"]).items()}
    place = {
        word(child): number
        for entry in entries.values()
        for number, child in enumerate(seq(entry.get("childrenIds")))
    }
    nodes: list[Node] = []
    for id, entry in sorted(entries.items(), key=lambda item: place.get(item[0], 0)):
        nodes += _nodes(id, entry, files)
    return ParsedConversation(
        source_id=word(value.get("id")) or word(chat.get("id")),
        title=word(value.get("title")) or word(chat.get("title")),
        nodes=tuple(nodes),
        current=ref(history.get("currentId")),
        created=micros(value.get("created_at")) or micros(chat.get("timestamp")),
        system=word(obj(chat.get("params")).get("system")) or word(chat.get("system")) or None,
        model=next((word(model) for model in seq(chat.get("models"))), ""),
        extra=picked(value, "updated_at", "archived", "pinned", "folder_id", "meta"),
    )


def _nodes(id: str, entry: Mapping[str, Any], files: SourceFiles) -> list[Node]:
    role = role_of(entry.get("role"))
    parts = _output(entry, files)
    told_again = repeats(
        _plain(entry.get("content")), "\n".join(p.text for p in parts if isinstance(p, TextPart))
    )
    known = _READ if told_again or not parts else _READ - {"content"}
    parts = [*(parts or _content(entry, files)), *leftovers(entry, known, PROGRAM)]
    failed = word(obj(entry.get("error")).get("content")) or word(entry.get("error"))
    node = Node(
        id,
        ref(entry.get("parentId")),
        Draft(role, ()),
        created=micros(entry.get("timestamp")),
        model=word(entry.get("model")) if role == "assistant" else "",
        status="interrupted" if failed or entry.get("done") is False else "done",
        failure=failed if role == "assistant" else "",
        usage=usage_of(entry.get("usage")),
        extra=picked(entry, *_BESIDE),
    )
    return spread(node, [*_files(entry, files), *parts], role)


def _files(entry: Mapping[str, Any], files: SourceFiles) -> list[Part]:
    parts: list[Part] = []
    for file in objs(entry.get("files")):
        found = data_url(word(file.get("url")))
        part = files.attach_bytes(*found, word(file.get("name"))) if found else None
        parts.append(
            part
            if part is not None
            else OpaquePart(kept_json({**file, "type": word(file.get("type")) or "file"}))
        )
        if part is not None:
            parts += leftovers(file, ("url",), PROGRAM, within="files.")
    return parts


def _output(entry: Mapping[str, Any], files: SourceFiles) -> list[Part]:
    parts: list[Part] = []
    names: dict[str, str] = {}
    for item in objs(entry.get("output")):
        match item.get("type"):
            case "reasoning":
                thought = words(item.get("content")) or words(item.get("summary"))
                parts += [ReasoningPart(thought)] if thought.strip() else []
                known = repeated_fields(item, ("content", "summary"), thought)
                parts += leftovers(item, known, PROGRAM, within="output.")
                parts += _beside_words((*objs(item.get("content")), *objs(item.get("summary"))), files)
            case "message":
                parts += text_parts(words(item.get("content")))
                parts += _beside_words(objs(item.get("content")), files)
                parts += leftovers(item, ("content",), PROGRAM, within="output.")
            case "function_call":
                id = word(item.get("call_id")) or word(item.get("id"))
                names[id] = word(item.get("name"))
                parts.append(tool_call(item, id))
                parts += leftovers(item, ("arguments",), PROGRAM, within="output.")
            case "function_call_output":
                id = word(item.get("call_id"))
                parts.append(ToolResultPart(names.get(id, ""), words(item.get("output")), id or None))
                parts += _beside_words(objs(item.get("output")), files)
                parts += leftovers(item, ("output",), PROGRAM, within="output.")
            case _:
                parts.append(OpaquePart(kept_json({**item, "type": word(item.get("type")) or "unknown"})))
    return parts


def _plain(content: Json) -> str:
    """The text of a content, without the blocks of thoughts and calls."""
    return _DETAILS.sub("", words(content))


def _beside_words(blocks: Iterable[Mapping[str, Any]], files: SourceFiles) -> list[Part]:
    """The parts of blocks besides their text."""
    parts = (part for block in blocks for part in content_parts([block], files, PROGRAM))
    return [part for part in parts if not isinstance(part, TextPart)]


def _content(entry: Mapping[str, Any], files: SourceFiles) -> list[Part]:
    content = entry.get("content")
    if not isinstance(content, str) or "<details" not in content:
        return content_parts(content, files, PROGRAM)
    parts: list[Part] = []
    at = 0
    for match in _DETAILS.finditer(content):
        parts += text_parts(content[at : match.start()].strip())
        parts += _detail(dict(_ATTRIBUTE.findall(match.group(1))), match)
        at = match.end()
    return [*parts, *text_parts(content[at:].strip())]


def _detail(attributes: Mapping[str, str], match: re.Match[str]) -> list[Part]:
    inner = plain(_SUMMARY.sub("", match.group(2))).strip()
    if attributes.get("type") == "reasoning":
        thought = _QUOTED.sub("", inner)
        return [ReasoningPart(thought)] if thought else []
    if attributes.get("type") == "tool_calls":
        id, name = plain(attributes.get("id", "")) or None, plain(attributes.get("name", "")) or "unknown"
        result = _decoded(attributes.get("result", "")) or inner
        return [
            ToolCallPart(name, arguments_json(_decoded(attributes.get("arguments", ""))), id),
            ToolResultPart(name, result, id),
        ]
    return text_parts(match.group().strip())


def _decoded(attribute: str) -> str:
    """The value of an attribute, which may be a text as JSON, so that JSON in it is quoted twice."""
    text = plain(attribute)
    try:
        inner = parse(text)
    except ValueError:
        return text
    return inner if isinstance(inner, str) else text
