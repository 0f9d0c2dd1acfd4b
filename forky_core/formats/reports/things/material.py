"""The conversation from which things are reported, and the parts of a report that several things have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.formats.reports.included import EVERYTHING, Included
from forky_core.formats.reports.report import Exact, Leaf, Picture, Prose, Sentences
from forky_core.model import Message, MessageId
from forky_core.model.errors import NotFound
from forky_core.model.opaque import opaque
from forky_core.model.parts import (
    AttachmentPart,
    OpaquePart,
    ReasoningPart,
    RevertPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from forky_core.views.graph import line_of_text
from forky_core.views.shelf import count

_PICTURES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
_LARGEST = 4_000_000
"""The most bytes of a picture in a report; a larger one is only named."""


@dataclass(frozen=True, slots=True)
class Material:
    """A conversation from which one thing is reported."""

    forky: Workspace
    chat: Conversation
    label: Callable[[str], str]
    """Returns the label of a model."""
    included: Included = EVERYTHING
    """What the report contains beyond the words."""

    def shown(self, message: Message) -> Message | None:
        """Return a message for the report; None if the report must not contain it."""
        return self.included.of(message) if self.included.shows(message) else None

    def line(self, message: Message) -> str:
        """Return one line by which a person recognises a message."""
        shown = self.shown(message)
        return line_of_text(shown) if shown is not None else "a message that is not shown"

    def blocks(self, message: Message) -> tuple[Leaf, ...]:
        """Return the blocks for a message, part by part."""
        return tuple(self._parts(message))

    def _parts(self, message: Message) -> Iterator[Leaf]:
        shown = self.shown(message)
        if shown is None:
            return
        if any(isinstance(part, AttachmentPart) for part in message.parts) and not self.included.documents:
            yield Sentences(("A file is attached, which is not shown.",))
        for part in shown.parts:
            match part:
                case TextPart() if part.text.strip():
                    yield Prose(part.text)
                case ReasoningPart() if part.text.strip():
                    yield Sentences(("Thoughts:",))
                    yield Exact(part.text)
                case ToolCallPart():
                    yield Sentences((f"Calls {part.name}:",))
                    yield Exact(part.arguments)
                case ToolResultPart():
                    yield Sentences((f"{part.name or 'A tool'} answers:",))
                    yield Exact(part.output or part.exception or "")
                case AttachmentPart():
                    yield self._attachment(part)
                case RevertPart():
                    yield Sentences((f"Takes back {count(len(part.targets), 'message')} from here on.",))
                case OpaquePart():
                    yield Sentences((opaque(part).title,))
                case _:
                    continue
        for merge in shown.merges:
            yield Exact(merge.text)

    def _attachment(self, part: AttachmentPart) -> Leaf:
        name = part.name or part.media_type
        if part.media_type in _PICTURES:
            try:
                content = self.forky.store.blob(part.sha256).content
            except NotFound:
                return Sentences((f"Attached: {name}",))
            if len(content) <= _LARGEST:
                return Picture(name, part.media_type, content)
        return Sentences((f"Attached: {name}",))


def digits(message: MessageId) -> str:
    """Return the beginning of a message's id, by which people can find it."""
    return message.removeprefix("b2:")[:12]
