"""Messages: immutable, content-addressed, below their parents (laws 1 and 3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from forky_core.model.hashing import mend_part, mend_text, message_id
from forky_core.model.ids import MessageId, Role
from forky_core.model.parts import Draft, MergePart, Part, RevertPart, TextPart


@dataclass(frozen=True, slots=True)
class Message:
    """One immutable node. Equal ids mean equal content and equal history."""

    id: MessageId
    parents: tuple[MessageId, ...]
    """Parent 0 is the context; the others are provenance and are never walked when building a context (law 3)."""
    role: Role
    parts: tuple[Part, ...]
    name: str | None = None
    """The author, if there can be more than one."""
    created: int = 0
    """Microseconds since the epoch, UTC. Provenance: not hashed."""
    sources: tuple[MessageId, ...] = ()
    """The messages it was copied from. Provenance: not hashed."""
    hidden: bool = False
    """Structural nodes of an import, not shown and not merged. Provenance: not hashed."""

    @property
    def parent(self) -> MessageId | None:
        return self.parents[0] if self.parents else None

    @property
    def text(self) -> str:
        """The text of its text parts and of its merge payloads."""
        if len(self.parts) == 1 and isinstance(only := self.parts[0], TextPart):
            return only.text
        return "\n\n".join(part.text for part in self.parts if isinstance(part, TextPart | MergePart))

    @property
    def merge(self) -> MergePart | None:
        """Its merge payload; for an octopus merge, the first one."""
        return next((part for part in self.parts if isinstance(part, MergePart)), None)

    @property
    def merges(self) -> tuple[MergePart, ...]:
        """All its merge payloads: an octopus merge has one for each source."""
        return tuple(part for part in self.parts if isinstance(part, MergePart))

    @property
    def reverts(self) -> tuple[MessageId, ...]:
        """The messages that this message reverts, from itself on."""
        return tuple(
            MessageId(id) for part in self.parts if isinstance(part, RevertPart) for id in part.targets
        )


class Stem(NamedTuple):
    """A message without its content: only what is needed to walk the graph of a conversation."""

    parents: tuple[MessageId, ...]
    created: int = 0
    hidden: bool = False

    @property
    def parent(self) -> MessageId | None:
        return self.parents[0] if self.parents else None


@dataclass(frozen=True, slots=True)
class PathOverlap:
    """How much of a path, given as ids, is stored, and which stored messages branch off it."""

    stored: int
    """How many of the path's messages are stored, counted from the root up to the first hidden one."""
    branching: tuple[Message, ...]
    """The messages that branch off: their parent is one of those (or they are roots) but they are not on the path. In
    the order they were written."""


class Linked(Protocol):
    """The attributes that a message and its stem share."""

    @property
    def parents(self) -> tuple[MessageId, ...]: ...
    @property
    def parent(self) -> MessageId | None: ...
    @property
    def created(self) -> int: ...
    @property
    def hidden(self) -> bool: ...


def seal(
    draft: Draft, parents: Iterable[MessageId | None], *, created: int = 0, hidden: bool = False
) -> Message:
    """Return the message that `draft` becomes below these parents. Unencodable text is mended first."""
    at = tuple(parent for parent in parents if parent is not None)
    parts = tuple(mend_part(part) for part in draft.parts)
    name = mend_text(draft.name) if draft.name is not None else None
    sources = tuple(MessageId(source) for source in draft.sources)
    return Message(
        MessageId(message_id(at, draft.role, parts, name)),
        at,
        draft.role,
        parts,
        name,
        created,
        sources,
        hidden,
    )
