"""The account of an import: seen + split = imported + already + skipped + collapsed, always.

An import that cannot say what became of each message cannot be trusted with a history of years; so the counts are made
where the decisions are made, and a test adds them up for every sample and every mutated file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from forky_core.model.parts import Json


@dataclass(frozen=True, slots=True)
class ImportAccount:
    """The account of one conversation, or the sum of several."""

    conversations: int = 0
    """Conversations that could be read."""
    unreadable: int = 0
    """Conversations and documents that could not be read."""
    seen: int = 0
    """Nodes of the source, including structural and hidden ones."""
    imported: int = 0
    """Messages that were imported."""
    split: int = 0
    """Additional messages from nodes that became several: a call, its result and the answer, which are
    one node there.
    """
    collapsed: int = 0
    """Nodes with the same content and parent as an earlier one: they become one message, which keeps all source ids."""
    skipped: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Nodes that became no message, counted by the reason (a sentence)."""
    notes: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Oddities and how they were read (a sentence), with counts; such nodes are imported all the same."""
    lost: int = 0
    """Of the nodes that became no message, those that should have: too many branches, or refused."""
    unread: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Parts that were kept without being understood, counted by their kind (model/opaque.py)."""
    already: int = 0
    """Messages that were stored before: by an earlier import, or from an equal conversation of the same file."""

    @property
    def not_understood(self) -> int:
        """Parts of messages that were kept without being understood."""
        return sum(self.unread.values())

    @property
    def all_understood(self) -> bool:
        """Whether everything was imported and understood."""
        return not (self.lost or self.unreadable or self.unread)

    def missing(self, problems: int = 0) -> str:
        """A sentence about what was not imported or not understood; "" if there is nothing. `problems` is the number of
        conversations and files that could not be read.
        """
        said = []
        if self.unread:
            was = "was" if self.not_understood == 1 else "were"
            said.append(f"{_many(self.not_understood, 'part')} {was} kept without being understood")
        if self.lost:
            said.append(f"{_many(self.lost, 'message')} did not come in")
        if problems:
            said.append(f"{_many(problems, 'conversation')} could not be read")
        return f"{'; '.join(said)}." if said else ""

    @property
    def adds_up(self) -> bool:
        became = self.imported + self.already + self.collapsed
        return self.seen + self.split == became + sum(self.skipped.values())

    def with_stored(self, already: int) -> ImportAccount:
        """The same account, where so many of the messages were stored before."""
        return replace(self, imported=self.imported - already, already=self.already + already)

    def __add__(self, other: ImportAccount) -> ImportAccount:
        return ImportAccount(
            self.conversations + other.conversations,
            self.unreadable + other.unreadable,
            self.seen + other.seen,
            self.imported + other.imported,
            self.split + other.split,
            self.collapsed + other.collapsed,
            _sum(self.skipped, other.skipped),
            _sum(self.notes, other.notes),
            self.lost + other.lost,
            _sum(self.unread, other.unread),
            self.already + other.already,
        )

    def stored(self) -> dict[str, Json]:
        entry: dict[str, Json] = {
            "conversations": self.conversations,
            "seen": self.seen,
            "imported": self.imported,
        }
        if self.unreadable:
            entry["unreadable"] = self.unreadable
        if self.split:
            entry["split"] = self.split
        if self.collapsed:
            entry["collapsed"] = self.collapsed
        if self.skipped:
            entry["skipped"] = dict(self.skipped)
        if self.notes:
            entry["notes"] = dict(self.notes)
        if self.lost:
            entry["lost"] = self.lost
        if self.already:
            entry["already"] = self.already
        if self.unread:
            entry["unread"] = dict(self.unread)
        return entry

    @classmethod
    def from_stored(cls, entry: Mapping[str, Any]) -> ImportAccount:
        return cls(
            entry["conversations"],
            entry.get("unreadable", 0),
            entry["seen"],
            entry["imported"],
            entry.get("split", 0),
            entry.get("collapsed", 0),
            MappingProxyType(dict(entry.get("skipped", {}))),
            MappingProxyType(dict(entry.get("notes", {}))),
            entry.get("lost", 0),
            MappingProxyType(dict(entry.get("unread", {}))),
            entry.get("already", 0),
        )


def _many(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> Mapping[str, int]:
    return MappingProxyType(dict(Counter(one) + Counter(other)))
