"""A format that nobody uses, as somebody's package would read and write it: a stack of postcards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import ClassVar

from forky_core.formats.contract import (
    Node,
    ParsedConversation,
    Sample,
    SourceDocument,
    SourceFiles,
    Unreadable,
)
from forky_core.formats.exporting.flattening import flattened
from forky_core.formats.fields import obj, objs, word
from forky_core.formats.forky_file.chat import Chat
from forky_core.model import Role
from forky_core.model.parts import Draft, Json, TextPart

STACK: Json = {
    "stack": "s1",
    "messages": [
        {"role": "user", "content": "Where are you?"},
        {"role": "assistant", "content": "In Lima."},
    ],
}
"""A file of it, which would be a message array as well."""


class PostcardReader:
    name: ClassVar[str] = "postcards"
    label: ClassVar[str] = "Stack of postcards"

    def fits(self, sample: Sample) -> bool:
        return sample.has("stack", "messages")

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[ParsedConversation | Unreadable]:
        for value in document.values():
            if isinstance(value, Unreadable):
                yield value
                continue
            cards = objs(obj(value).get("messages"))
            yield ParsedConversation(
                word(obj(value).get("stack")), "Postcards", tuple(map(_node, range(len(cards)), cards))
            )


def _node(at: int, card: Json) -> Node:
    role: Role = "assistant" if word(obj(card).get("role")) == "assistant" else "user"
    draft = Draft(role, (TextPart(word(obj(card).get("content"))),))
    return Node(str(at), str(at - 1) if at else None, draft)


class PostcardWriter:
    name: ClassVar[str] = "postcards"
    label: ClassVar[str] = "Stack of postcards"
    suffix: ClassVar[str] = ".postcards.json"
    media_type: ClassVar[str] = "application/json"

    def losses(self, chat: Chat) -> tuple[str, ...]:
        return ("A postcard has no branches.",) if chat.messages else ()

    def write(self, chat: Chat) -> Iterator[bytes]:
        flat = flattened(chat)
        cards = [{"role": one.role, "content": one.text} for one in flat.messages.values()]
        yield json.dumps({"stack": flat.id, "messages": cards}).encode()


READER, WRITER = PostcardReader(), PostcardWriter()
