"""Conversations that are graphs of nodes and edges: those of the first Forky (2024 and 2025), and of canvas-chat.

A node that joins several others follows the first of them; the ids of the others are kept beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import read_values, spread
from forky_core.formats.contract import (
    Node,
    ParsedConversation,
    Result,
    Sample,
    SourceDocument,
    SourceFiles,
    Unreadable,
)
from forky_core.formats.fields import kept_json, micros, obj, objs, picked, seq, word, words, wrapped
from forky_core.formats.files.json_values import parse
from forky_core.formats.files.tables import Row, opened_tables
from forky_core.formats.leftovers import Program, leftovers, says_something
from forky_core.formats.openai_messages import text_parts
from forky_core.formats.roles import role_of
from forky_core.model import Role
from forky_core.model.media import data_url, decoded
from forky_core.model.parts import Draft, Json, OpaquePart, Part

PROGRAM = Program(
    "another program",
    frozenset(
        (
            *("children_ids", "parent_ids", "node_type", "state_summary_cache", "conversation_id"),
            *("position", "width", "height", "tags", "collapsed"),
        )
    ),
)
FORK = "It only marks where a branch begins."
_FORK, _ROOT = "<FORK>", "Root"
_BESIDE = ("merge_metadata",)
_READ = frozenset(("id", "content", "role", "timestamp", *PROGRAM.bookkeeping))


class FirstForky:
    name: ClassVar[str] = "first-forky"
    label: ClassVar[str] = "Forky of 2024 and 2025"

    def fits(self, sample: Sample) -> bool:
        return sample.tables >= {"conversations", "nodes", "edges"} or any(
            ("current_path" in value and "role" in obj(value.get("tree")))
            or ("root_id" in value and "current_node_id" in value and isinstance(value.get("nodes"), dict))
            for value in sample.objects
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        if document.shape == "sqlite":
            yield from _database(document, files)
            return
        yield from read_values(document, lambda value: [_file(obj(value))] if obj(value) else [])


def _file(value: Mapping[str, Any]) -> ParsedConversation:
    return _flat(value) if isinstance(value.get("nodes"), dict) else _nested(value)


def _database(document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
    with opened_tables(document) as tables:
        above: dict[str, list[str]] = {}
        for edge in tables.rows("edges"):
            above.setdefault(word(edge.get("child_id")), []).append(word(edge.get("parent_id")))
        attached: dict[str, list[Part]] = {}
        for file in tables.rows("attachments"):
            attached.setdefault(word(file.get("node_id")), []).append(_upload(file, files))
        nodes: dict[str, list[Row]] = {}
        for row in tables.rows("nodes"):
            nodes.setdefault(word(row.get("conversation_id")), []).append(row)
        for conversation in tables.rows("conversations"):
            id = word(conversation.get("id"))
            entries = {word(row.get("id")): _read(row) for row in nodes.get(id, [])}
            yield _conversation(
                entries,
                above,
                attached,
                source_id=id,
                title=word(conversation.get("name")),
                current=word(conversation.get("current_node_id")),
                created=micros(conversation.get("created_at")),
            )


def _read(row: Row) -> Row:
    """A row with its JSON parsed."""
    try:
        metadata = parse(row["merge_metadata"]) if isinstance(row.get("merge_metadata"), str) else None
    except ValueError:
        metadata = row["merge_metadata"]
    return {**row, "merge_metadata": metadata}


def _upload(file: Row, files: SourceFiles) -> Part:
    name = word(file.get("filename"))
    shown = word(file.get("original_name"))
    member = next((one for one in files.names() if name and one.endswith(f"/{name}")), name)
    found = files.attach(member, word(file.get("mime_type")), shown)
    return found or OpaquePart(
        kept_json({"type": "file", "name": shown, "media_type": word(file.get("mime_type"))})
    )


def _flat(value: Mapping[str, Any]) -> ParsedConversation:
    entries = {id: node for id, node in value["nodes"].items() if isinstance(node, dict)}
    above: dict[str, list[str]] = {}
    for id, node in entries.items():
        for child in seq(node.get("children_ids")):
            above.setdefault(word(child), []).append(id)
    return _conversation(entries, above, {}, current=word(value.get("current_node_id")))


def _nested(value: Mapping[str, Any]) -> ParsedConversation:
    """The file of 2024: the checked-out node is named by the places of children on the way to it."""
    entries: dict[str, Mapping[str, Any]] = {}
    above: dict[str, list[str]] = {}
    current, path = "", seq(value.get("current_path"))
    waiting: list[tuple[str, int, Mapping[str, Any], bool]] = [("", 0, obj(value.get("tree")), True)]
    while waiting:
        parent, depth, node, is_current = waiting.pop()
        if not node:
            continue
        id = f"#{len(entries) + 1}"
        entries[id] = {name: field for name, field in node.items() if name != "children"}
        above[id] = [parent] if parent else []
        current = id if is_current else current
        for place, child in reversed(list(enumerate(seq(node.get("children"))))):
            on_path = is_current and depth < len(path) and path[depth] == place
            waiting.append((id, depth + 1, wrapped(child), on_path))
    return _conversation(entries, above, {}, current=current, extra=picked(value, "provider", "model"))


def _conversation(
    entries: Mapping[str, Mapping[str, Any]],
    above: Mapping[str, list[str]],
    attached: Mapping[str, list[Part]],
    *,
    current: str,
    **more: Any,
) -> ParsedConversation:
    nodes: list[Node] = []
    below: dict[str, list[str]] = {}
    for id, entry in entries.items():
        parents = [parent for parent in above.get(id, []) if parent in entries]
        for parent in parents[:1]:
            below.setdefault(parent, []).append(id)
        nodes += _node(id, parents, entry, attached.get(id, []))
    names = {
        name: _end(id, below, entries)
        for id, entry in entries.items()
        if (name := word(entry.get("branch_name"))) and name != "master"
    }
    branch = next((name for name, end in names.items() if end == current), "main")
    others = {name: end for name, end in names.items() if name != branch}
    return ParsedConversation(
        source_id=more.pop("source_id", ""),
        title=more.pop("title", ""),
        nodes=tuple(nodes),
        current=current or None,
        branch=branch,
        names=others,
        **more,
    )


def _end(id: str, below: Mapping[str, list[str]], entries: Mapping[str, Mapping[str, Any]]) -> str:
    """The last node of the branch that begins at `id`."""
    seen: set[str] = set()
    while id not in seen:
        seen.add(id)
        onward = [child for child in below.get(id, []) if not word(entries[child].get("branch_name"))]
        if onward:
            id = onward[-1]
    return id


def _node(id: str, parents: list[str], entry: Mapping[str, Any], attached: list[Part]) -> list[Node]:
    text, parent = words(entry.get("content")), parents[0] if parents else None
    is_mark = text in (_FORK, _ROOT) and entry.get("role") == "system" and (text == _FORK or not parents)
    if is_mark:
        about = {name: field for name, field in entry.items() if name not in _READ and says_something(field)}
        return [Node(id, parent, None, why=FORK, extra=about)]
    role = role_of(entry.get("role"))
    parts = [*text_parts(text), *attached]
    parts += leftovers(entry, ("content", "branch_name", "children", *_BESIDE), PROGRAM)
    extra = {**picked(entry, *_BESIDE), **({"other_parents": parents[1:]} if parents[1:] else {})}
    node = Node(id, parent, Draft(role, ()), created=micros(entry.get("timestamp")), extra=extra)
    return spread(node, parts, role)


_SAID_BY_MODELS = frozenset(
    (
        *("ai", "summary", "opinion", "synthesis", "review", "research", "factcheck", "flashcard"),
        *("reflection", "artifact", "run", "skill_run"),
    )
)
_CARD = ("title", "summary", "selection")


class CanvasChat:
    name: ClassVar[str] = "canvas-chat"
    label: ClassVar[str] = "canvas-chat"

    def fits(self, sample: Sample) -> bool:
        return any(
            isinstance(value.get("edges"), list)
            and any(
                "type" in one and "content" in one and "position" in one for one in objs(value.get("nodes"))
            )
            for value in sample.objects
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        for value in document.values():
            if isinstance(value, Unreadable):
                yield value
                continue
            canvas = obj(value)
            above: dict[str, list[str]] = {}
            for edge in objs(canvas.get("edges")):
                above.setdefault(word(edge.get("target")), []).append(word(edge.get("source")))
            nodes: list[Node] = []
            for card in objs(canvas.get("nodes")):
                nodes += _card(card, above.get(word(card.get("id")), []), files)
            yield ParsedConversation(
                source_id=word(canvas.get("id")),
                title=word(canvas.get("name")),
                nodes=tuple(nodes),
                created=micros(canvas.get("created_at")),
                extra=picked(canvas, "tags"),
            )


def _card(card: Mapping[str, Any], parents: list[str], files: SourceFiles) -> list[Node]:
    kind = word(card.get("type"))
    role: Role = "assistant" if kind in _SAID_BY_MODELS else "user"
    picture = _picture(card, files)
    parts = [*picture, *text_parts(words(card.get("content")))]
    read = ("content", *_CARD, *(("imageData",) if picture else ()))
    parts += leftovers(card, read, PROGRAM)
    extra: dict[str, Json] = picked(card, *_CARD)
    if kind not in ("human", "ai"):
        extra["type"] = kind
    if parents[1:]:
        extra["other_parents"] = parents[1:]
    node = Node(
        word(card.get("id")),
        parents[0] if parents else None,
        Draft(role, ()),
        created=micros(card.get("created_at")),
        model=word(card.get("model")) if role == "assistant" else "",
        extra=extra,
    )
    return spread(node, parts, role)


def _picture(card: Mapping[str, Any], files: SourceFiles) -> list[Part]:
    said = word(card.get("imageData"))
    content, media = data_url(said) or (decoded(said) or b"", "")
    part = files.attach_bytes(content, word(card.get("mimeType")) or media)
    return [part] if part is not None else []
