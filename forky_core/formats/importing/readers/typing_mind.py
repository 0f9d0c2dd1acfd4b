"""TypingMind's exports: `data.chats`, each a list of messages. The folders, prompts and keys in the
file are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import openai_chain
from forky_core.formats.contract import ParsedConversation, Sample, SourceDocument, SourceFiles, Unreadable
from forky_core.formats.fields import micros, obj, objs, picked, word
from forky_core.formats.leftovers import Program

PROGRAM = Program("TypingMind", frozenset(("keywords", "titlePromptUsed", "syncedAt")))


class TypingMind:
    name: ClassVar[str] = "typingmind"
    label: ClassVar[str] = "TypingMind export"

    def fits(self, sample: Sample) -> bool:
        return any(any("chatID" in chat for chat in _chats(value)) for value in sample.objects)

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[ParsedConversation | Unreadable]:
        for value in document.values():
            if isinstance(value, Unreadable):
                yield value
                continue
            for chat in _chats(obj(value)):
                yield _chat(chat, files)


def _chats(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return objs(obj(value.get("data")).get("chats")) or ([value] if "chatID" in value else [])


def _chat(chat: Mapping[str, Any], files: SourceFiles) -> ParsedConversation:
    model = word(chat.get("model")) or word(obj(chat.get("model")).get("id"))
    messages = [
        {**message, "id": message.get("uuid", message.get("id"))} for message in objs(chat.get("messages"))
    ]
    chain = openai_chain(messages, files, PROGRAM, model=model)
    return ParsedConversation(
        source_id=word(chat.get("chatID")),
        title=word(chat.get("chatTitle")),
        nodes=tuple(chain.nodes),
        current=chain.last,
        created=micros(chat.get("createdAt")),
        model=model,
        extra=picked(chat, "folderID", "updatedAt"),
    )
