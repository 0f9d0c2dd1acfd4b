"""Branches with their rules (law 4), and stashes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from forky_core.model.changed_fields import changed_fields
from forky_core.model.document import DocumentUse
from forky_core.model.ids import MessageId
from forky_core.model.memory import Memory
from forky_core.model.parts import Json


@dataclass(frozen=True, slots=True)
class Rules:
    """What a branch does beyond pointing (law 4). Changing them forks nothing and rewrites nothing."""

    system: str | None = None
    """The branch's own system prompt; with None, a system message on the path applies."""
    model: str | None = None
    """Name of the model that answers; with None, the workspace's default model does."""
    parameters: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    """Model parameters such as `temperature`, by their OpenAI names."""
    pins: tuple[MessageId, ...] = ()
    """Messages that a memory policy must not leave out."""
    exclusions: tuple[MessageId, ...] = ()
    """Messages that are never sent on this branch."""
    memory: Memory | None = None
    """The branch's own memory policy; with None, the conversation's policy applies."""
    documents: DocumentUse = field(default_factory=DocumentUse)
    """Which documents the branch's answers may quote."""
    others: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    """Fields written by a later version, preserved unchanged."""

    def stored(self) -> dict[str, Json]:
        """Return the rules as JSON, without the fields that have their default."""
        return {**self.others, **changed_fields(self, *_RULES)}

    @classmethod
    def from_stored(cls, entry: Mapping[str, Json]) -> Rules:
        return cls(
            entry.get("system"),
            entry.get("model"),
            MappingProxyType(dict(entry.get("parameters", {}))),
            tuple(MessageId(i) for i in entry.get("pins", ())),
            tuple(MessageId(i) for i in entry.get("exclusions", ())),
            Memory.from_stored(entry["memory"]) if "memory" in entry else None,
            DocumentUse.from_stored(entry.get("documents", {})),
            MappingProxyType({key: value for key, value in entry.items() if key not in _RULES}),
        )


_RULES = ("system", "model", "parameters", "pins", "exclusions", "memory", "documents")


@dataclass(frozen=True, slots=True)
class Branch:
    name: str
    head: MessageId | None
    """None for an empty branch."""
    rules: Rules


@dataclass(frozen=True, slots=True)
class Stash:
    """A line of thought put aside: what was typed, its attachments and settings, or a run of messages."""

    number: int
    note: str
    draft: str = ""
    attachments: tuple[str, ...] = ()
    """The sha256 of each attachment; the bytes are in the store."""
    rules: Rules | None = None
    messages: tuple[MessageId, ...] = ()
    """First-parent run, oldest first."""
    created: int = 0

    def stored(self) -> dict[str, Json]:
        """Return the stash as JSON, without its number (the view's key has it) and without fields that have their
        default.
        """
        entry = {"note": self.note, "created": self.created}
        return entry | changed_fields(self, "draft", "attachments", "rules", "messages")

    @classmethod
    def from_stored(cls, number: int, entry: Mapping[str, Json]) -> Stash:
        return cls(
            number,
            entry["note"],
            entry.get("draft", ""),
            tuple(entry.get("attachments", ())),
            Rules.from_stored(entry["rules"]) if "rules" in entry else None,
            tuple(MessageId(i) for i in entry.get("messages", ())),
            entry.get("created", 0),
        )
