"""What goes along with something that is given away, beyond what people and models said.

A file that somebody saves for themselves holds everything. A link holds the words alone, unless somebody ticks more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any

from forky_core.context.citing import SOURCES, documents_cited
from forky_core.merge.payload_copy import without_prompts
from forky_core.model import Generation, Message
from forky_core.model.errors import BadContent
from forky_core.model.generation import Usage
from forky_core.model.parts import AttachmentPart, MergePart, Part, TextPart

_LINE = re.compile(rf"\n*^{SOURCES} .*$", re.MULTILINE)
_LISTED = re.compile(rf"{SOURCES} .*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Included:
    """What is given along."""

    hidden: bool = False
    """Messages that the notebook does not show: instructions and notes that came with an import."""
    rules: bool = False
    """The rules of branches, such as system prompts; system messages; parameters of model calls."""
    costs: bool = False
    """What answers cost: money, tokens and time."""
    documents: bool = False
    """Attached files, and which documents an answer cites."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what is included: "hidden", "rules", "costs", "documents"."""
        return tuple(one.name for one in fields(self) if getattr(self, one.name))

    def shows(self, message: Message) -> bool:
        """Whether a message is given along."""
        return (self.hidden or not message.hidden) and (self.rules or message.role != "system")

    def parts(self, message: Message) -> tuple[Part, ...]:
        """The parts of a message that are given along."""
        parts = message.parts if self.rules else tuple(map(_unprompted, message.parts))
        if self.documents:
            return parts
        return tuple(_uncited(part) for part in parts if not isinstance(part, AttachmentPart))

    def of(self, message: Message) -> Message:
        """The message as it is shown; under its own id, though it may have fewer parts."""
        parts = self.parts(message)
        return message if parts == message.parts else replace(message, parts=parts)

    def leaves_whole(self, message: Message) -> bool:
        """Whether a message is given along as it is, so that its id still names what is given."""
        return self.shows(message) and self.parts(message) == message.parts

    def call(self, call: Generation) -> Generation:
        """The record of a model call as it is given along: always the model, never the program that asked."""
        kept: dict[str, Any] = {"failure": None, "partial": (), "prompt": "", "client": "", "reused": None}
        if not self.costs:
            kept |= {"usage": Usage(), "first_token": None, "finished": call.started}
        if not self.rules:
            kept["parameters"] = MappingProxyType({})
        if not self.documents:
            kept["consulted"] = None
        return replace(call, **kept)


EVERYTHING = Included(True, True, True, True)


def included_named(names: Iterable[str]) -> Included:
    """What these names include. Raises BadContent for a name that says nothing."""
    wanted = set(names)
    known = {one.name for one in fields(Included)}
    if unknown := sorted(wanted - known):
        raise BadContent(
            f"“{unknown[0][:40]}” cannot be included.", f"There are: {', '.join(EVERYTHING.names)}."
        )
    return Included(**dict.fromkeys(wanted, True))


def _unprompted(part: Part) -> Part:
    """A merge without the system prompt of its branch, which its header quotes if it is another than the target's."""
    return replace(part, text=without_prompts(part.text)) if isinstance(part, MergePart) else part


def _uncited(part: Part) -> Part:
    """A text without its list of sources, if that names documents. A merge's text keeps its number of lines."""
    if isinstance(part, TextPart) and any(documents_cited(part.text)):
        return TextPart(_LINE.sub("", part.text))
    if isinstance(part, MergePart) and any(documents_cited(part.text)):
        return replace(part, text=_LISTED.sub(f"{SOURCES} left out", part.text))
    return part
