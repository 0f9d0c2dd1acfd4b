"""Looms: trees of continuations, often with many siblings. A text is the model's, or the person's prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import read_values
from forky_core.formats.contract import Node, ParsedConversation, Result, Sample, SourceDocument, SourceFiles
from forky_core.formats.fields import micros, obj, objs, picked, ref, word
from forky_core.formats.leftovers import Program, leftovers, names
from forky_core.formats.openai_messages import content_parts
from forky_core.model import Role
from forky_core.model.parts import Draft

PROGRAM = Program(
    "a Loom",
    frozenset(
        names(
            "open visited mutable text_attributes multimedia frame collapsed unread hoisted parent_id"
            " parentId children lastVisited visible canonical meta"
        )
    ),
)
_BESIDE = ("tags", "bookmarked", "chapter_id", "generation")
_READ = frozenset(("text", *_BESIDE))


class Loom:
    name: ClassVar[str] = "loom"
    label: ClassVar[str] = "Loom"

    def fits(self, sample: Sample) -> bool:
        return any(_is_nested(value) or _is_flat(value) for value in sample.objects)

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        return read_values(
            document, lambda value: [(_flat if _is_flat(obj(value)) else _nested)(obj(value), files)]
        )


def _is_nested(value: Mapping[str, Any]) -> bool:
    """Whether it is a file of socketteer's loom."""
    root = obj(value.get("root"))
    return "text" in root and isinstance(root.get("children"), list)


def _is_flat(value: Mapping[str, Any]) -> bool:
    """Whether it is an export of Obsidian's loom."""
    nodes = obj(value.get("nodes"))
    return "current" in value and any("parentId" in obj(one) and "text" in obj(one) for one in nodes.values())


def _nested(value: Mapping[str, Any], files: SourceFiles) -> ParsedConversation:
    nodes: list[Node] = []
    open_ends: list[tuple[str | None, Mapping[str, Any]]] = [(None, obj(value.get("root")))]
    while open_ends:
        parent, entry = open_ends.pop()
        id = word(entry.get("id")) or f"#{len(nodes) + 1}"
        nodes.append(_node(id, parent, entry, files))
        open_ends += [(id, child) for child in objs(entry.get("children"))][::-1]
    root = word(obj(value.get("root")).get("id"))
    return ParsedConversation(root, "", tuple(nodes), ref(value.get("selected_node_id")))


def _flat(value: Mapping[str, Any], files: SourceFiles) -> ParsedConversation:
    nodes = tuple(
        _node(id, ref(obj(entry).get("parentId")), obj(entry), files)
        for id, entry in obj(value.get("nodes")).items()
    )
    root = next((node.id for node in nodes if node.parent is None), "")
    return ParsedConversation(root, "", nodes, ref(value.get("current")))


def _node(id: str, parent: str | None, entry: Mapping[str, Any], files: SourceFiles) -> Node:
    meta = obj(entry.get("meta"))
    role: Role = "user" if meta.get("source") == "prompt" else "assistant"
    return Node(
        id,
        parent,
        Draft(role, (*content_parts(entry.get("text"), files, PROGRAM), *leftovers(entry, _READ, PROGRAM))),
        created=micros(meta.get("creation_timestamp")) or micros(entry.get("lastVisited")),
        extra=picked(entry, *_BESIDE),
    )
