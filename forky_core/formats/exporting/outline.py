"""A conversation for reading: lines of numbered messages, each naming the message it branches off."""

from __future__ import annotations

from dataclasses import dataclass

from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.stored import linked
from forky_core.model import MessageId
from forky_core.views.layout.shape import MAIN, Shape, shape_of


@dataclass(frozen=True, slots=True)
class OutlineSection:
    """Consecutive messages of one line."""

    name: str
    """The branch it belongs to, "" if none."""
    after: int | None
    """Number of the message that it continues; None at the beginning."""
    messages: tuple[tuple[int, MessageId], ...]
    """The messages with their numbers, which count through the whole conversation."""


@dataclass(frozen=True, slots=True)
class Outline:
    shape: Shape
    sections: tuple[OutlineSection, ...]
    number: dict[MessageId, int]


def outline(chat: Chat) -> Outline:
    """The visible messages, main line first; hidden ones are left out."""
    shape = shape_of(linked(chat.messages), chat.view)
    named = zip(shape.lines, shape.line_names, strict=True)
    lines = sorted(named, key=lambda line: line[1] != MAIN)
    number = {id: at for at, id in enumerate((id for line, _ in lines for id in line), 1)}
    sections = []
    for line, name in lines:
        above = shape.parent[line[0]]
        sections.append(
            OutlineSection(
                name,
                number[above] if above is not None else None,
                tuple((number[id], id) for id in line),
            )
        )
    return Outline(shape, tuple(sections), number)
