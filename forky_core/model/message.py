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
    """Parent 0 is the context; the others are provenance and are never walked when reading (law 3)."""
    role: Role
    parts: tuple[Part, ...]
    name: str | None = None
    """The author, where there can be more than one."""
    created: int = 0
    """Microseconds since the epoch, UTC. Provenance: not hashed."""
    sources: tuple[MessageId, ...] = ()
    """What it was copied from. Provenance: not hashed."""
    hidden: bool = False
    """Structural nodes of an import, not shown and not merged. Provenance: not hashed."""

    @property
    def parent(self) -> MessageId | None:
        return self.parents[0] if self.parents else None

    @property
    def text(self) -> str:
        """The words of its text parts, and of a merge its block."""
        if len(self.parts) == 1 and isinstance(only := self.parts[0], TextPart):
            return only.text
        return "\n\n".join(part.text for part in self.parts if isinstance(part, TextPart | MergePart))

    @property
    def merge(self) -> MergePart | None:
        """Its payload; of an octopus the first one."""
        return next((part for part in self.parts if isinstance(part, MergePart)), None)

    @property
    def merges(self) -> tuple[MergePart, ...]:
        """Its payloads: an octopus has one for each source."""
        return tuple(part for part in self.parts if isinstance(part, MergePart))

    @property
    def reverts(self) -> tuple[MessageId, ...]:
        """What it takes back, from itself on."""
        return tuple(
            MessageId(id) for part in self.parts if isinstance(part, RevertPart) for id in part.targets
        )


class Stem(NamedTuple):
    """A message without what it says: all that is asked of it to know how a conversation hangs together."""

    parents: tuple[MessageId, ...]
    created: int = 0
    hidden: bool = False

    @property
    def parent(self) -> MessageId | None:
        return self.parents[0] if self.parents else None


@dataclass(frozen=True, slots=True)
class Along:
    """How far a path that somebody spells by its ids is stored, and what leaves it."""

    known: int
    """How many of its messages are there, from the root on, up to the first that is hidden."""
    beside: tuple[Message, ...]
    """The messages that follow one of those, or nothing, and are none of them, in the order they were written."""


class Linked(Protocol):
    """What a message and its stem have in common."""

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
    """The message `draft` becomes below these parents. Unencodable text is mended first."""
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
