"""Chatbot UI's first version: `history` of linear conversations, the prompt as the system prompt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from forky_core.formats.chaining import openai_chain
from forky_core.formats.contract import ParsedConversation, Sample, SourceDocument, SourceFiles, Unreadable
from forky_core.formats.fields import obj, objs, picked, word
from forky_core.formats.leftovers import Program

PROGRAM = Program("Chatbot UI")


class ChatbotUI:
    name: ClassVar[str] = "chatbot-ui"
    label: ClassVar[str] = "Chatbot UI export"

    def fits(self, sample: Sample) -> bool:
        return any("version" in value and isinstance(value.get("history"), list) for value in sample.objects)

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[ParsedConversation | Unreadable]:
        for value in document.values():
            if isinstance(value, Unreadable):
                yield value
                continue
            for entry in objs(obj(value).get("history")):
                model = word(obj(entry.get("model")).get("id"))
                chain = openai_chain(objs(entry.get("messages")), files, PROGRAM, model=model)
                yield ParsedConversation(
                    source_id=word(entry.get("id")),
                    title=word(entry.get("name")),
                    nodes=tuple(chain.nodes),
                    current=chain.last,
                    system=word(entry.get("prompt")) or None,
                    model=model,
                    extra=picked(entry, "temperature", "folderId"),
                )
