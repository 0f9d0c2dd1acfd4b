"""The view: all that can move in one conversation, as of one operation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from forky_core.model.branch import Branch, Rules, Stash
from forky_core.model.document import DocumentId
from forky_core.model.ids import MessageId
from forky_core.model.memory import EVERYTHING, Memory
from forky_core.model.operation import Change
from forky_core.model.parts import Json
from forky_core.model.room import Room, room_in


@dataclass(frozen=True)
class View:
    """All that can move in one conversation, as of one operation.

    Stored as a flat mapping, one entry a key, so that an operation is a small difference:
    `title` → str · `trashed` → true · `program` → str · `memory` → Memory.stored() · `room` → Room.stored() ·
    `people/<name>` → Person.stored() · `heads/<branch>` → {"at": id or null} · `rules/<branch>` → Rules.stored() ·
    `documents` → ids of those that belong to the conversation ·
    `tags/<name>` → {"at": id} · `kept/<id>` → true (a tip without a branch, e.g. the reply regenerated away from) ·
    `stash/<n>` → the stash.
    """

    entries: Mapping[str, Json]
    """They never change: what is made of them is kept."""
    version: int
    """Number of the operation that made it."""

    @property
    def title(self) -> str:
        title = self.entries.get("title", "")
        return title if isinstance(title, str) else ""

    @property
    def program(self) -> str:
        """The program that began the conversation, with its token's name before it; "" where a person did."""
        program = self.entries.get("program", "")
        return program if isinstance(program, str) else ""

    @property
    def trashed(self) -> bool:
        return bool(self.entries.get("trashed"))

    @property
    def memory(self) -> Memory:
        """What branches remember that have no policy of their own."""
        entry: Any = self.entries.get("memory")
        return Memory.from_stored(entry) if entry is not None else EVERYTHING

    @property
    def room(self) -> Room:
        """Who takes part."""
        return room_in(self.entries)

    @property
    def documents(self) -> tuple[DocumentId, ...]:
        """Those that belong to the conversation."""
        entry: Any = self.entries.get("documents")
        return tuple(DocumentId(id) for id in entry) if isinstance(entry, list) else ()

    def memory_of(self, rules: Rules) -> Memory:
        """The policy that holds under these rules."""
        return rules.memory if rules.memory is not None else self.memory

    @cached_property
    def branches(self) -> Mapping[str, Branch]:
        """By name, in the order of their names."""
        names = sorted(key.removeprefix("heads/") for key in self.entries if key.startswith("heads/"))
        return MappingProxyType({name: self.branch(name) for name in names})

    def branch(self, name: str) -> Branch:
        """KeyError where there is none of that name."""
        entry: Any = self.entries[f"heads/{name}"]
        head = MessageId(entry["at"]) if entry["at"] is not None else None
        return Branch(name, head, Rules.from_stored(self.entries.get(f"rules/{name}") or {}))

    @property
    def tags(self) -> dict[str, MessageId]:
        return {
            key.removeprefix("tags/"): MessageId(entry["at"])
            for key, entry in sorted(self.entries.items())
            if key.startswith("tags/")
        }

    @property
    def kept(self) -> tuple[MessageId, ...]:
        return tuple(
            MessageId(key.removeprefix("kept/")) for key in sorted(self.entries) if key.startswith("kept/")
        )

    @property
    def stashes(self) -> tuple[Stash, ...]:
        """Newest first, as `git stash list`."""
        return tuple(
            Stash.from_stored(int(key.removeprefix("stash/")), entry)
            for key, entry in sorted(
                ((k, e) for k, e in self.entries.items() if k.startswith("stash/")),
                key=lambda item: -int(item[0].removeprefix("stash/")),
            )
        )

    @property
    def tips(self) -> frozenset[MessageId]:
        """Every message a ref names. What is visible is these and their ancestors."""
        stashed = (stash.messages[-1] for stash in self.stashes if stash.messages)
        heads = (branch.head for branch in self.branches.values() if branch.head is not None)
        return frozenset((*heads, *self.tags.values(), *self.kept, *stashed))

    def apply(self, changes: Iterable[Change], version: int) -> View:
        entries = dict(self.entries)
        for change in changes:
            if change.after is None:
                entries.pop(change.key, None)
            else:
                entries[change.key] = change.after
        return View(MappingProxyType(entries), version)


EMPTY_VIEW = View(MappingProxyType({}), 0)
