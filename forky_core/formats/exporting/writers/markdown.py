"""Markdown for reading: the main line first, then each branch with the message it branches off; one
heading a message.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import ClassVar

from forky_core.formats.exporting.flattening import origins_of, plain_parts
from forky_core.formats.exporting.losses import losses
from forky_core.formats.exporting.outline import OutlineSection, outline
from forky_core.formats.exporting.rewriting import visible
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.importing.readers.forky_markdown import is_mark
from forky_core.model import Message
from forky_core.model.model_names import together, without_server
from forky_core.model.opaque import opaque
from forky_core.model.parts import (
    AttachmentPart,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from forky_core.text.fences import CodeBlocks, fenced

WHO = {"user": "You", "assistant": "Assistant", "system": "System", "tool": "Tool"}


class Markdown:
    name: ClassVar[str] = "markdown"
    label: ClassVar[str] = "Markdown"
    suffix: ClassVar[str] = ".md"
    media_type: ClassVar[str] = "text/markdown"

    def losses(self, chat: Chat) -> tuple[str, ...]:
        return losses(chat, ("tree", "branch names", "reasoning", "authors", "models"))

    def write(self, chat: Chat) -> Iterator[bytes]:
        plain = visible(chat)
        origins = origins_of(plain)
        read = outline(plain)
        yield f"# {one_line(plain.title) or 'Untitled'}\n".encode()
        for at, section in enumerate(read.sections):
            if len(read.sections) > 1:
                yield f"\n---\n\n{section_name(section, first=at == 0)}\n".encode()
            for number, id in section.messages:
                message = plain.messages[id]
                heading = f"## {number}. {who(message, origins.of(message.id).models)}{when(message, ':%S')}"
                body = "\n\n".join(filter(None, map(part_as_markdown, plain_parts(message, plain.messages))))
                yield f"\n{heading}\n\n{closed(body, number + 1)}\n".encode()


def section_name(section: OutlineSection, *, first: bool) -> str:
    name = f"Branch “{one_line(section.name)}”" if section.name else "Beside the branches"
    return f"**{name}**" + ("" if first or section.after is None else f", from message {section.after}")


def who(message: Message, models: Sequence[str]) -> str:
    if message.merges:
        return f"Merge of {', '.join(f'“{one_line(one.source)}”' for one in message.merges)}"
    if message.name:
        return one_line(without_server(message.name))
    if models and message.role == "assistant":
        return one_line(together(map(without_server, models)))
    return WHO[message.role]


def when(message: Message, seconds: str = "") -> str:
    """The message's time, to the minute or with `seconds` in a form of strftime."""
    if not message.created:
        return ""
    at = datetime.fromtimestamp(message.created // 1_000_000, UTC)
    return f" · {at.strftime(f'%Y-%m-%d %H:%M{seconds}')} UTC"


def one_line(text: str) -> str:
    return " ".join(text.split())[:200]


def part_as_markdown(part: Part) -> str:
    """A part as Markdown."""
    match part:
        case TextPart():
            return part.text
        case ReasoningPart():
            return "\n".join(f"> {line}" for line in part.text.splitlines())
        case ToolCallPart():
            return f"Calls `{part.name}`:\n\n{fenced(_pretty(part.arguments), 'json')}"
        case ToolResultPart():
            return f"`{part.name or 'tool'}` answers:\n\n{fenced(part.output or part.exception or '')}"
        case AttachmentPart():
            return f"*Attachment: {one_line(part.name) or part.media_type}*"
        case OpaquePart():
            return f"*{one_line(opaque(part).title)}*"
        case _:
            return ""


def _pretty(arguments: str) -> str:
    value = json.loads(arguments)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def closed(text: str, next_number: int = 0) -> str:
    """The text with an unclosed code block closed: an interrupted reply must not turn the rest of the
    file into code. A line that would be read as the heading of the next message gets a backslash.
    """
    blocks = CodeBlocks()
    lines = []
    for line in text.split("\n"):
        lines.append(f"\\{line}" if not blocks.marker and is_mark(line, next_number) else line)
        blocks.take(line.removesuffix("\r"))
    return "\n".join((*lines, blocks.end) if blocks.marker else lines)
