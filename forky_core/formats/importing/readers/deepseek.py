"""DeepSeek's data export (`conversations.json` in a zip), and a conversation as its web page loads it.

The export has ChatGPT's `mapping`, but its messages are `fragments`: question, thought, search and answer, one after
another. The page's data (`chat_messages`, which browser extensions save) has the same fragments; older versions have
`content` and `thinking_content` instead. Formats seen in Eternity-LLM/transfer, DavidShiang/DeepSeek2md and
ceyaima/deepseek-exporter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import no_messages, read_values, spread
from forky_core.formats.contract import Node, ParsedConversation, Result, Sample, SourceDocument, SourceFiles
from forky_core.formats.fields import kept_json, micros, obj, objs, picked, ref, seq, word, words
from forky_core.formats.leftovers import Program, leftovers, names
from forky_core.formats.openai_messages import content_parts, text_parts
from forky_core.formats.roles import role_of
from forky_core.model import Role
from forky_core.model.parts import (
    Draft,
    OpaquePart,
    Part,
    ReasoningPart,
    ToolCallPart,
    ToolResultPart,
    arguments_json,
)

PROGRAM = Program(
    "DeepSeek",
    frozenset(
        names(
            "elapsed_secs stage_id conversation_mode feedback site_name site_icon cite_index published_at"
            " query_indexes"
        )
    ),
)
_READ = frozenset(("fragments", "content", "thinking_content", "files", "model", "search_results"))
_FRAGMENT = ("content", "results", "queries")
_PAGE = ("title", "url", "snippet", "content")
_SEARCHES = frozenset(("SEARCH", "TOOL_SEARCH", "TOOL_OPEN", "READ_LINK"))
_WHOLE = frozenset(("", "FINISHED"))
"""States of a complete message."""


class DeepSeek:
    name: ClassVar[str] = "deepseek"
    label: ClassVar[str] = "DeepSeek export"

    def fits(self, sample: Sample) -> bool:
        return any(_has_fragments(value) or _loaded(value) for value in sample.objects)

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        return read_values(document, lambda value: [_conversation(obj(value), files)])


def _conversation(value: Mapping[str, Any], files: SourceFiles) -> Result:
    if isinstance(value.get("mapping"), dict):
        return _exported(value, files)
    loaded = _loaded(value)
    return _saved(loaded, files) if loaded else no_messages(value, "mapping")


def _has_fragments(value: Mapping[str, Any]) -> bool:
    nodes = (obj(node) for node in obj(value.get("mapping")).values())
    return any(isinstance(obj(node.get("message")).get("fragments"), list) for node in nodes)


def _loaded(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of a response of DeepSeek's server that has the messages; empty for anything else."""
    inner = obj(obj(value.get("data")).get("biz_data")) or value
    return inner if isinstance(inner.get("chat_messages"), list) and "chat_session" in inner else {}


def _exported(value: Mapping[str, Any], files: SourceFiles) -> ParsedConversation:
    nodes: list[Node] = []
    for id, entry in obj(value["mapping"]).items():
        nodes += _nodes(id, ref(obj(entry).get("parent")), obj(obj(entry).get("message")), files)
    return ParsedConversation(
        source_id=word(value.get("id")),
        title=word(value.get("title")),
        nodes=tuple(nodes),
        current=ref(value.get("current_node")),
        created=micros(value.get("inserted_at")),
        extra=picked(value, "updated_at"),
    )


def _saved(value: Mapping[str, Any], files: SourceFiles) -> ParsedConversation:
    about = obj(value.get("chat_session"))
    nodes: list[Node] = []
    for number, message in enumerate(objs(value.get("chat_messages")), 1):
        id = word(message.get("message_id")) or f"#{number}"
        nodes += _nodes(id, ref(message.get("parent_id")), message, files)
    return ParsedConversation(
        source_id=word(about.get("id")),
        title=word(about.get("title")),
        nodes=tuple(nodes),
        current=ref(about.get("current_message_id")),
        created=micros(about.get("inserted_at")),
        extra=picked(about, "updated_at", "agent"),
    )


def _nodes(id: str, parent: str | None, message: Mapping[str, Any], files: SourceFiles) -> list[Node]:
    if not message:
        return [Node(id, parent, None)]
    role = _role(message)
    named: list[Part] = [
        OpaquePart(kept_json({**file, "type": "file"})) for file in objs(message.get("files"))
    ]
    node = Node(
        id,
        parent,
        Draft(role, ()),
        created=micros(message.get("inserted_at")),
        model=word(message.get("model")) if role == "assistant" else "",
        status="done" if role != "assistant" or word(message.get("status")) in _WHOLE else "interrupted",
        extra=picked(message, "search_results", "accumulated_token_usage"),
    )
    return spread(node, [*named, *_parts(message, files), *leftovers(message, _READ, PROGRAM)], role)


def _role(message: Mapping[str, Any]) -> Role:
    """The message's role. If the export does not name it, a person's message is one with a request fragment."""
    said = word(message.get("role"))
    if said:
        return role_of(said)
    kinds = {word(fragment.get("type")).upper() for fragment in objs(message.get("fragments"))}
    return "user" if "REQUEST" in kinds or not kinds else "assistant"


def _parts(message: Mapping[str, Any], files: SourceFiles) -> list[Part]:
    parts: list[Part] = []
    for fragment in seq(message.get("fragments")):
        parts += text_parts(fragment) if isinstance(fragment, str) else _fragment(obj(fragment), files)
    thought = words(message.get("thinking_content"))
    before: list[Part] = [ReasoningPart(thought)] if thought.strip() else []
    # Messages had these fields before fragments were introduced.
    return [*before, *content_parts(message.get("content"), files, PROGRAM), *parts]


def _fragment(fragment: Mapping[str, Any], files: SourceFiles) -> list[Part]:
    kind, text = word(fragment.get("type")).upper(), words(fragment.get("content"))
    known = _FRAGMENT if kind in _SEARCHES else ("content",)
    rest = leftovers(fragment, known, PROGRAM, within=f"fragments.{kind or 'unknown'}.")
    if kind == "THINK":
        return [*([ReasoningPart(text)] if text.strip() else []), *rest]
    if kind in ("REQUEST", "RESPONSE", ""):
        return [*(text_parts(text) or content_parts(fragment.get("content"), files, PROGRAM)), *rest]
    if kind in _SEARCHES:
        return [*_search(kind, fragment, text), *rest]
    return [OpaquePart(kept_json(dict(fragment)))] if fragment.keys() - {"type", "id"} else []


def _search(kind: str, fragment: Mapping[str, Any], text: str) -> list[Part]:
    """The search query, and the results: each page with its title, address and text."""
    name = kind.lower().removeprefix("tool_")
    queries = fragment.get("queries")
    asked: list[Part] = []
    if queries:
        asked.append(ToolCallPart(name, arguments_json(kept_json({"queries": queries}))))
    pages = [
        "\n".join(filter(None, (word(one.get(key)) for key in ("title", "url", "snippet", "content"))))
        for one in objs(fragment.get("results"))
    ]
    output = "\n\n".join(filter(None, (text, *pages)))
    rest = [
        part
        for one in objs(fragment.get("results"))
        for part in leftovers(one, _PAGE, PROGRAM, within="results.")
    ]
    return [*asked, *([ToolResultPart(name, output)] if output.strip() else []), *rest]
