"""Decides what a file or a link for others contains beyond the words of people and models.

A file that somebody saves contains everything. A link contains only the words, unless its author ticks more.
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
    """What a file or a link contains beyond the words."""

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
        """Whether the file contains a message."""
        return (self.hidden or not message.hidden) and (self.rules or message.role != "system")

    def parts(self, message: Message) -> tuple[Part, ...]:
        """Return the parts of a message for the file."""
        parts = message.parts if self.rules else tuple(map(_without_prompts, message.parts))
        if self.documents:
            return parts
        return tuple(_without_sources(part) for part in parts if not isinstance(part, AttachmentPart))

    def of(self, message: Message) -> Message:
        """Return the message for the file. It keeps its id although it may have fewer parts."""
        parts = self.parts(message)
        return message if parts == message.parts else replace(message, parts=parts)

    def leaves_whole(self, message: Message) -> bool:
        """Whether the file contains a message unchanged, so that its id is still the hash of its content."""
        return self.shows(message) and self.parts(message) == message.parts

    def call(self, call: Generation) -> Generation:
        """Return the record of a model call for the file: always with the model, never with the program that called."""
        removed: dict[str, Any] = {"failure": None, "partial": (), "prompt": "", "client": "", "reused": None}
        if not self.costs:
            removed |= {"usage": Usage(), "first_token": None, "finished": call.started}
        if not self.rules:
            removed["parameters"] = MappingProxyType({})
        if not self.documents:
            removed["consulted"] = None
        return replace(call, **removed)


EVERYTHING = Included(True, True, True, True)


def included_named(names: Iterable[str]) -> Included:
    """Return the value for these names of fields. Raises BadContent for an unknown name."""
    wanted = set(names)
    if unknown := sorted(wanted - {one.name for one in fields(Included)}):
        raise BadContent(
            f"“{unknown[0][:40]}” cannot be included.", f"There are: {', '.join(EVERYTHING.names)}."
        )
    return Included(**dict.fromkeys(wanted, True))


def _without_prompts(part: Part) -> Part:
    """Remove the system prompt of the branch from a merge, whose header quotes it if it differs from the target's."""
    return replace(part, text=without_prompts(part.text)) if isinstance(part, MergePart) else part


def _without_sources(part: Part) -> Part:
    """Remove the list of sources from a text, if it names documents. A merge's text keeps its number of lines."""
    if isinstance(part, TextPart) and any(documents_cited(part.text)):
        return TextPart(_LINE.sub("", part.text))
    if isinstance(part, MergePart) and any(documents_cited(part.text)):
        return replace(part, text=_LISTED.sub(f"{SOURCES} left out", part.text))
    return part
