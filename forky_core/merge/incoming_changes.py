"""What a source branch brings to a target: the turns of its own context that the target lacks.

Δ is Git's (`graph.delta`), but a merge brings the branch as its own context shows it: its first-parent line, with the
payloads of its own merges in their places (law 3). A message that reached the source through a squash is represented by
that squash, and listed as such: nothing is left out silently.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from forky_core.context.masking import Lookup
from forky_core.model import Message, MessageId
from forky_core.model.errors import NotFound
from forky_core.model.parts import MergePart

UNFINISHED = "It comes after the last complete turn."
HIDDEN = "A structural message of an import."
EXCLUDED = "The source branch leaves it out."
SYSTEM = "A system prompt of the source; the target's own counts."
PICKED = "It is in the target already, as a copy."
KNOWN_MERGE = "It merges what the target has already."
REVERT = "It takes messages back on its own branch only."
TAKEN_BACK = "The source branch took it back."
TAKEN_BACK_HERE = "The target took it back; revert the revert to have it again."
REPRESENTED = "It came through a merge, whose text stands for it."


@dataclass(frozen=True, slots=True)
class Omission:
    """A message of the source that the payload leaves out."""

    message: MessageId
    why: str
    """The reason, as a sentence."""


@dataclass(frozen=True, slots=True)
class IncomingChanges:
    """What there is to merge, before any strategy has looked at it."""

    delta: tuple[MessageId, ...]
    bases: tuple[MessageId, ...]
    head: MessageId | None
    """The end of the source's last complete turn: the side parent of the merge. None if there is nothing to merge."""
    turns: tuple[Message, ...]
    """The messages of Δ in the source's context, in its order; each full merge is followed by its turns."""
    omitted: tuple[Omission, ...]
    fork: Message | None
    """The last message of the source's line that the target has; None for unrelated lines."""
    continues: MessageId | None
    """The merge on the target's line that brought `fork`, if an earlier merge did."""
    prompts: tuple[str, ...]
    """System messages in the source's part."""

    def count(self, why: str) -> int:
        """Count the messages that are left out for this reason."""
        return sum(omission.why == why for omission in self.omitted)


@dataclass(slots=True)
class Sorting:
    """Sorts a source's messages into turns and omissions."""

    lookup: Lookup
    known: frozenset[MessageId]
    brought: frozenset[MessageId]
    masked: Mapping[MessageId, str]
    copies: Copies
    turns: list[Message] = field(default_factory=list)
    omitted: list[Omission] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    seen: set[MessageId] = field(default_factory=set)

    def take(self, messages: Iterable[Message]) -> None:
        for message, merges, reverts in [(one, one.merges, one.reverts) for one in messages]:
            self._sort(message, merges, reverts)

    def _sort(self, message: Message, merges: Sequence[MergePart], reverts: Sequence[MessageId]) -> None:
        self.seen.add(message.id)
        why = self._why_not(message, merges, reverts)
        if why:
            self.omitted.append(Omission(message.id, why))
            return
        self.turns.append(message)
        for part in merges:
            if part.brings_turns:
                self.take(self._inner(part))

    def _why_not(self, message: Message, merges: Sequence[MergePart], reverts: Sequence[MessageId]) -> str:
        if message.hidden:
            return HIDDEN
        if message.id in self.masked:
            return self.masked[message.id]
        if reverts:
            return REVERT
        if message.role == "system":
            self.prompts.append(message.text)
            return SYSTEM
        brought = [id for merge in merges if merge.kind.reading != "answer" for id in merge.messages]
        if brought and self.known.issuperset(brought):
            return KNOWN_MERGE
        if self.copies.has(message):
            return PICKED
        return ""

    def _inner(self, merge: MergePart) -> list[Message]:
        """Return the turns that a full merge of the source shows; its own full merges have listed theirs already."""
        ids = (MessageId(id) for id in merge.messages)
        return [self.lookup(id) for id in ids if id in self.brought and id not in self.seen]

    def represented(self, brought: Sequence[MessageId]) -> list[Omission]:
        return [Omission(message, REPRESENTED) for message in brought if message not in self.seen]


class Copies:
    """Which messages the target has as copies: equal content, linked through `sources` or quoted by a pick.

    A copy in `without` (which the target reverted) does not count.
    """

    def __init__(
        self, lookup: Lookup, known: Iterable[MessageId], *, without: Container[MessageId] = ()
    ) -> None:
        self._lookup = lookup
        self._known = frozenset(id for id in known if id not in without)
        self._copied: set[MessageId] = set()
        messages = [lookup(id) for id in self._known]
        self._copied.update(origin.id for message in messages for origin in self._origins(message))
        for merge in [merge for message in messages for merge in message.merges]:
            if merge.kind.reading == "quotation":
                self._copied.update(MessageId(quoted) for quoted in merge.messages)

    def has(self, message: Message) -> bool:
        if message.id in self._copied:
            return True
        return any(origin.id in self._known or origin.id in self._copied for origin in self._origins(message))

    def _origins(self, message: Message) -> list[Message]:
        """Return what the message was copied from, transitively, as long as the content is equal."""
        found: list[Message] = []
        open_ends = [message]
        seen = {message.id}
        while open_ends:
            for source in open_ends.pop().sources:
                origin = self._find(source)
                if origin is None or origin.id in seen:
                    continue
                seen.add(origin.id)
                if (origin.role, origin.parts) == (message.role, message.parts):
                    found.append(origin)
                    open_ends.append(origin)
        return found

    def _find(self, id: MessageId) -> Message | None:
        try:
            return self._lookup(id)
        except (NotFound, KeyError):
            return None  # A copy from another conversation.
