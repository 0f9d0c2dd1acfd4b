"""Open Assistant's trees (`prompt` with nested `replies`, a line each) and flat messages (`parent_id`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.contract import (
    Node,
    ParsedConversation,
    Sample,
    SourceDocument,
    SourceFiles,
    Unreadable,
)
from forky_core.formats.fields import micros, obj, objs, picked, ref, word
from forky_core.formats.leftovers import Program, leftovers
from forky_core.formats.openai_messages import content_parts
from forky_core.formats.roles import role_of
from forky_core.model.parts import Draft

PROGRAM = Program(
    "Open Assistant",
    frozenset(("tree_state", "message_tree_id", "detoxify", "review_result", "events", "user_id")),
)
_BESIDE = ("lang", "rank", "labels", "emojis", "deleted", "synthetic", "review_count")
_READ = frozenset(
    ("text", "replies", "prompt", "model_name", "created_date", "frontend_message_id", *_BESIDE)
)


class OpenAssistant:
    name: ClassVar[str] = "oasst"
    label: ClassVar[str] = "Open Assistant"

    def fits(self, sample: Sample) -> bool:
        return any(
            (isinstance(value.get("prompt"), dict) and "message_tree_id" in value)
            or (
                "text" in value
                and word(value.get("role")) in ("prompter", "assistant")
                and ("parent_id" in value or "parent_message_id" in value)
            )
            for value in sample.objects
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[ParsedConversation | Unreadable]:
        flat: dict[str, list[Node]] = {}
        for value in document.values():
            if isinstance(value, Unreadable):
                yield value
                continue
            entry = obj(value)
            if isinstance(entry.get("prompt"), dict):
                yield _tree(entry, files)
            else:
                parent = ref(entry.get("parent_id")) or ref(entry.get("parent_message_id"))
                flat.setdefault(word(entry.get("message_tree_id")), []).append(_node(entry, parent, files))
        for tree, nodes in flat.items():
            yield ParsedConversation(tree, "", tuple(nodes))


def _tree(entry: Mapping[str, Any], files: SourceFiles) -> ParsedConversation:
    nodes: list[Node] = []
    open_ends: list[tuple[str | None, Mapping[str, Any]]] = [(None, obj(entry["prompt"]))]
    while open_ends:
        parent, message = open_ends.pop()
        node = _node(message, parent, files, f"#{len(nodes) + 1}")
        nodes.append(node)
        open_ends += [(node.id, reply) for reply in objs(message.get("replies"))][::-1]
    return ParsedConversation(
        word(entry.get("message_tree_id")), "", tuple(nodes), extra=picked(entry, "tree_state")
    )


def _node(message: Mapping[str, Any], parent: str | None, files: SourceFiles, otherwise: str = "") -> Node:
    id = word(message.get("message_id")) or word(message.get("user_message_id")) or otherwise
    role = role_of(message.get("role"))
    return Node(
        id,
        parent,
        Draft(
            role, (*content_parts(message.get("text"), files, PROGRAM), *leftovers(message, _READ, PROGRAM))
        ),
        created=micros(message.get("created_date")),
        model=word(message.get("model_name")) if role == "assistant" else "",
        extra=picked(message, *_BESIDE),
    )
