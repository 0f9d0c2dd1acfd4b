"""LibreChat's exports, flat (`parentMessageId`) and recursive (`children`). The role is in `isCreatedByUser`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import read_values, spread
from forky_core.formats.contract import Node, ParsedConversation, Result, Sample, SourceDocument, SourceFiles
from forky_core.formats.fields import kept_json, micros, obj, objs, picked, ref, word, words
from forky_core.formats.leftovers import Program, leftovers, names, repeated_fields
from forky_core.formats.openai_messages import content_parts, text_parts
from forky_core.formats.roles import role_of
from forky_core.model import Role
from forky_core.model.parts import Draft, OpaquePart, TextPart

PROGRAM = Program(
    "LibreChat",
    frozenset(
        names(
            "messageId conversationId parentMessageId sender endpoint iconURL thread_id children metadata"
            " user __v addedConvo siblingIndex depth isEdited current progress auth agentId"
            " targetMessageId contextMeta"
        )
    ),
)
_BESIDE = ("sender", "endpoint", "tokenCount", "attachments", "updatedAt", "feedback")
_READ = frozenset(("text", "content", "files", *_BESIDE))
ROOT = "00000000-0000-0000-0000-000000000000"


class LibreChat:
    name: ClassVar[str] = "librechat"
    label: ClassVar[str] = "LibreChat export"

    def fits(self, sample: Sample) -> bool:
        return any(
            "conversationId" in value and isinstance(value.get("messages", value.get("messagesTree")), list)
            for value in sample.objects
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        return read_values(document, lambda value: [_conversation(obj(value), files)])


def _conversation(value: Mapping[str, Any], files: SourceFiles) -> ParsedConversation:
    options = obj(value.get("options"))
    nodes: list[Node] = []
    roots = objs(value.get("messages")) or objs(value.get("messagesTree"))
    open_ends: list[tuple[str | None, Mapping[str, Any]]] = [(None, message) for message in reversed(roots)]
    number = 0
    while open_ends:
        above, message = open_ends.pop()
        number += 1
        id = word(message.get("messageId")) or f"#{number}"
        parent = ref(message.get("parentMessageId")) or above
        nodes += _nodes(id, None if parent == ROOT else parent, message, files)
        open_ends += [(id, child) for child in objs(message.get("children"))][::-1]
    return ParsedConversation(
        source_id=word(value.get("conversationId")),
        title=word(value.get("title")),
        nodes=tuple(nodes),
        system=word(options.get("promptPrefix")) or word(options.get("system")) or None,
        model=word(options.get("model")),
        extra=picked(value, "endpoint", "exportAt"),
    )


def _nodes(id: str, parent: str | None, message: Mapping[str, Any], files: SourceFiles) -> list[Node]:
    role: Role = "user" if message.get("isCreatedByUser") is True else "assistant"
    if not message.keys() & {"isCreatedByUser", "sender"}:
        role = role_of(message.get("role"))
    blocks = objs(message.get("content"))
    text = words(message.get("text"))
    parts = (
        content_parts(blocks, files, PROGRAM) if blocks else text_parts(words(message.get("content")) or text)
    )
    parts = parts or text_parts(text)
    joined = "\n\n".join(part.text for part in parts if isinstance(part, TextPart))
    known = _READ - {"text"} | set(repeated_fields(message, ("text",), joined))
    parts += leftovers(message, known, PROGRAM)
    lost = [
        OpaquePart(kept_json({**file, "type": word(file.get("type")) or "file"}))
        for file in objs(message.get("files"))
    ]
    failed = message.get("error") is True and role == "assistant"
    broken = message.get("unfinished") is True or failed
    node = Node(
        id,
        parent,
        Draft(role, ()),
        created=micros(message.get("createdAt")),
        model=word(message.get("model")) if role == "assistant" else "",
        status="interrupted" if broken and role == "assistant" else "done",
        extra=picked(message, *_BESIDE),
        failure=joined if failed else "",
    )
    if failed:  # Its text is the reason why it failed.
        parts = [part for part in parts if not isinstance(part, TextPart)]
    return spread(node, [*lost, *parts], role)
