"""Message arrays in API formats: OpenAI's fine-tuning lines, Anthropic's requests, and objects that wrap them.

`{"messages": [{"role", "content"}]}` on a line, in an array or alone; a bare array of messages; optionally with a
title, dates and a system prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from forky_core.formats.chaining import openai_chain
from forky_core.formats.contract import (
    ParsedConversation,
    Result,
    Sample,
    SourceDocument,
    SourceFiles,
    Unreadable,
)
from forky_core.formats.fields import micros, obj, objs, picked, word, words
from forky_core.formats.leftovers import Program

PROGRAM = Program("another program")


class MessageArrays:
    name: ClassVar[str] = "messages"
    label: ClassVar[str] = "Message array (OpenAI, Anthropic)"

    def fits(self, sample: Sample) -> bool:
        return _are_messages(list(sample.values)) or any(
            _are_messages(value.get("messages")) for value in sample.objects
        )

    def read(self, document: SourceDocument, files: SourceFiles) -> Iterator[Result]:
        bare: list[Mapping[str, Any]] = []
        for number, value in enumerate(document.values(), 1):
            if isinstance(value, Unreadable):
                yield value
            elif isinstance(obj(value).get("messages"), list):
                yield _conversation(obj(value), objs(obj(value)["messages"]), files)
            elif "role" in obj(value):
                bare.append(obj(value))
            else:
                yield Unreadable(f"number {number}", "It has no messages.")
        if bare:
            yield _conversation({}, bare, files)


_SAYING = ("content", "tool_calls", "text", "value", "parts", "message")
"""An object with a role is a message if it has one of these fields."""


_SHORT = 8
"""The fewest digits of a number that identifies a conversation."""


def _are_messages(value: Any) -> bool:
    return any("role" in one and any(field in one for field in _SAYING) for one in objs(value))


def _conversation(
    value: Mapping[str, Any], messages: list[Mapping[str, Any]], files: SourceFiles
) -> ParsedConversation:
    chain = openai_chain(messages, files, PROGRAM, model=word(value.get("model")))
    return chain.conversation(
        _id(value),
        word(value.get("title")) or word(value.get("name")),
        created=micros(value.get("created_at")) or micros(value.get("created")),
        system=words(value.get("system")) or None,
        model=word(value.get("model")),
        extra=picked(value, "tools", "metadata"),
    )


def _id(value: Mapping[str, Any]) -> str:
    """The conversation's id. A short number, as rows of a table have it, is none: other files have the same."""
    ids = map(word, (value.get("uuid"), value.get("id"), value.get("conversation_id")))
    return next((id for id in ids if id and not (id.isdigit() and len(id) < _SHORT)), "")
