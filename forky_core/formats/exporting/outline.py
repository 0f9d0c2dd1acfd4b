"""A conversation for reading: lines of numbered messages, each naming the message it branches off."""

from __future__ import annotations

from dataclasses import dataclass

from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.stored import linked
from forky_core.layout.shape import Shape, shape_of
from forky_core.model import MessageId


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
    lines = sorted(shape.lines, key=lambda line: not _is_main(line, shape))
    number = {id: at for at, id in enumerate((id for line in lines for id in line), 1)}
    sections = []
    for line in lines:
        above = shape.parent[line[0]]
        sections.append(
            OutlineSection(
                _name(line, shape),
                number[above] if above is not None else None,
                tuple((number[id], id) for id in line),
            )
        )
    return Outline(shape, tuple(sections), number)


def _is_main(line: tuple[MessageId, ...], shape: Shape) -> bool:
    return any("main" in shape.branches.get(id, ()) for id in line)


def _name(line: tuple[MessageId, ...], shape: Shape) -> str:
    names = [name for id in reversed(line) for name in shape.branches.get(id, ())]
    return "main" if "main" in names else names[0] if names else ""
