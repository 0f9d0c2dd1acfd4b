"""The view: everything that can move in one conversation, as of one operation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from forky_core.model.branch import Branch, Rules, Stash
from forky_core.model.document import DocumentId
from forky_core.model.erasure import Erasure, erasures_in
from forky_core.model.ids import MessageId
from forky_core.model.memory import EVERYTHING, Memory
from forky_core.model.operation import Change, Operation
from forky_core.model.parts import Json
from forky_core.model.room import Room, room_in

FORKED_FROM = "forked_from"
"""The key that names the conversation from whose file this one began."""


@dataclass(frozen=True)
class View:
    """Everything that can move in one conversation, as of one operation.

    Stored as a flat mapping, one entry a key, so that an operation is a small difference:
    `title` → str · `folder` → str · `trashed` → true · `program` → str · `memory` → Memory.stored() ·
    `room` → Room.stored() · `people/<name>` → Person.stored() · `heads/<branch>` → {"at": id or null} ·
    `rules/<branch>` → Rules.stored() · `documents` → ids of those that belong to the conversation ·
    `tags/<name>` → {"at": id} · `kept/<id>` → true (a tip without a branch, e.g. the reply regenerated away from) ·
    `stash/<n>` → the stash · `notes/<id>` → what a speaker wants to say at that message ·
    `erased/<id>` → Erasure.stored(), of a message whose text was erased ·
    `continued` → the sessions of other programs that go on from a branch (formats/importing/continuations.py) ·
    `polls…` → votes/poll.py · `experiments/<name>`, `experiment-rows/<name>/<n>` and two more → model/experiment.py.
    """

    entries: Mapping[str, Json]
    """They never change, so values computed from them can be cached."""
    version: int
    """Number of the operation that made this view."""

    @property
    def title(self) -> str:
        title = self.entries.get("title", "")
        return title if isinstance(title, str) else ""

    @property
    def folder(self) -> str:
        """The folder in which the list of conversations shows it; "" if it is in none."""
        folder = self.entries.get("folder", "")
        return folder if isinstance(folder, str) else ""

    @property
    def program(self) -> str:
        """The program that began the conversation, with its token's name before it and its folder after it; "" if a
        person did.
        """
        program = self.entries.get("program", "")
        return program if isinstance(program, str) else ""

    @property
    def trashed(self) -> bool:
        return bool(self.entries.get("trashed"))

    @property
    def memory(self) -> Memory:
        """The memory policy of branches that have none of their own."""
        entry: Any = self.entries.get("memory")
        return Memory.from_stored(entry) if entry is not None else EVERYTHING

    @cached_property
    def room(self) -> Room:
        """The conversation's participants."""
        return room_in(self.entries)

    @property
    def documents(self) -> tuple[DocumentId, ...]:
        """The documents that belong to the conversation."""
        entry: Any = self.entries.get("documents")
        return tuple(DocumentId(id) for id in entry) if isinstance(entry, list) else ()

    def memory_of(self, rules: Rules) -> Memory:
        """Return the memory policy of a branch with these rules."""
        return rules.memory if rules.memory is not None else self.memory

    @cached_property
    def branches(self) -> Mapping[str, Branch]:
        """All branches by name, sorted by name."""
        names = sorted(key.removeprefix("heads/") for key in self.entries if key.startswith("heads/"))
        return MappingProxyType({name: self.branch(name) for name in names})

    def branch(self, name: str) -> Branch:
        """Return the branch of that name.

        Raises:
            KeyError: there is none.
        """
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
        """All stashes, newest first, as in `git stash list`."""
        return tuple(
            Stash.from_stored(int(key.removeprefix("stash/")), entry)
            for key, entry in sorted(
                ((k, e) for k, e in self.entries.items() if k.startswith("stash/")),
                key=lambda item: -int(item[0].removeprefix("stash/")),
            )
        )

    @property
    def notes(self) -> dict[MessageId, str]:
        """What a speaker wants to say at each message, when the conversation is presented."""
        return {
            MessageId(key.removeprefix("notes/")): entry
            for key, entry in self.entries.items()
            if key.startswith("notes/") and isinstance(entry, str)
        }

    @cached_property
    def erasures(self) -> Mapping[MessageId, Erasure]:
        """The messages from which text was erased."""
        return erasures_in(self.entries)

    @property
    def tips(self) -> frozenset[MessageId]:
        """Every message that a ref names. The visible messages are these and their ancestors."""
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


def replayed(operations: Iterable[Operation]) -> View:
    """Return the view that results from applying all operations of a log in order."""
    entries: dict[str, Json] = {}
    version = 0
    for operation in operations:
        for change in operation.changes:
            if change.after is None:
                entries.pop(change.key, None)
            else:
                entries[change.key] = change.after
        version = operation.number
    return View(MappingProxyType(entries), version)
