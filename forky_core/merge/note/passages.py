"""The passages of messages that a note may quote.

Each passage stands word for word in its message, so that a quotation can be checked; for a tool call that is its name
and its decoded arguments, as `call_text` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forky_core.documents.retrieval.passages import quoted_in
from forky_core.model import Message, MessageId
from forky_core.model.parts import MergePart, TextPart, ToolCallPart, ToolResultPart
from forky_core.text.passages import Shape, Source, passages_in
from forky_core.text.sentences import language_of

_DEEPEST = 20
"""The most levels of a tool's arguments that are read."""


@dataclass(frozen=True, slots=True)
class NotePassage:
    """A piece of a message that can be quoted by itself."""

    message: MessageId
    role: str
    text: str
    """Exactly as it stands in the message, without white space at its ends."""
    shape: Shape
    place: int
    """Its index in the whole branch: passages are shown in this order."""
    turn: int
    """The index of its message."""
    row: int
    """The number of its line in its message: sentences of one paragraph share it."""
    whole_row: str
    """The line that it is part of; for code including its indentation."""


def passages(messages: Sequence[Message]) -> list[NotePassage]:
    """Return every passage of the messages, in order."""
    languages = list(map(language_of, [message.text for message in messages]))
    sources = [list(_sources(message)) for message in messages]
    cut = [
        list(passages_in(each, language, of_tool=message.role == "tool"))
        for message, each, language in zip(messages, sources, languages, strict=True)
    ]
    found: list[NotePassage] = []
    for turn, (message, mine) in enumerate(zip(messages, cut, strict=True)):
        for text, shape, row, line in mine:
            found.append(NotePassage(message.id, message.role, text, shape, len(found), turn, row, line))
    return found


def call_text(part: ToolCallPart) -> str:
    """Return a tool call as a note quotes it: its name with its short arguments, then the lines of the long ones.

    Of an edit, only the new text is included.
    """
    short: list[str] = [part.name]
    long: list[str] = []
    for value in _strings(_decoded(part.arguments)):
        (long if "\n" in value else short).append(value)
    return "\n".join((" ".join(short), *long))


def _decoded(arguments: str) -> object:
    try:
        found: object = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    return found


def _strings(value: object, depth: int = 0) -> Iterator[str]:
    """Yield the texts and numbers in decoded JSON, in order."""
    if isinstance(value, str):
        if value.strip():
            yield value.strip()
    elif isinstance(value, dict) and depth < _DEEPEST:
        edits = any(name.startswith("new") for name in value)
        for name, inner in value.items():
            if not (edits and name.startswith("old")):
                yield from _strings(inner, depth + 1)
    elif isinstance(value, list) and depth < _DEEPEST:
        for inner in value:
            yield from _strings(inner, depth + 1)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def _sources(message: Message) -> Iterator[tuple[Source, str]]:
    """Yield what a note may quote of a message."""
    for part in message.parts:
        if isinstance(part, TextPart):
            yield "text", quoted_in(part.text) if message.role == "assistant" else part.text
        elif isinstance(part, MergePart):
            yield "block", part.text
        elif isinstance(part, ToolCallPart):
            yield "call", call_text(part)
        elif isinstance(part, ToolResultPart):
            yield "output", part.output
