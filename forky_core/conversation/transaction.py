"""One change of one conversation, built in memory and published at once (law 5; after jj's `transaction.rs`).

Nothing is written before `publish`; what was written is either all of it or nothing. Each key carries the value its
author saw, so a lost race raises `Outdated` instead of overwriting.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from forky_core.conversation.identity import now
from forky_core.model import Change, ConversationId, Generation, Message, MessageId, Operation, Rules, View
from forky_core.model.errors import NameTaken, NotFound, Outdated
from forky_core.model.parts import Json
from forky_core.observability import events
from forky_core.store.contract import Commit, Store

T = TypeVar("T")
_TRIES = 20


def with_a_free_key(kind: str, work: Callable[[], T]) -> T:
    """What `work` returns, done again where it lost a race for a name or number that nobody had asked for.

    `kind` is how its key begins: `heads/`, `stash/`. `work` must read the view anew each time, and write nothing before
    its one `publish`.
    """
    for _ in range(_TRIES):
        try:
            return work()
        except Outdated as error:
            if error.first is None or not any(change.key.startswith(kind) for change in error.first.changes):
                raise
    return work()


@dataclass(slots=True)
class Transaction:
    """Collects changed keys, new messages and generations on top of one view."""

    store: Store
    conversation: ConversationId
    view: View
    """What the author saw."""
    actor: str
    messages: list[Message] = field(default_factory=list)
    generations: list[Generation] = field(default_factory=list)
    alone: bool = False
    """Refused where anything at all came after `view`, and not only where a changed key has moved."""
    derived: dict[str, str] = field(default_factory=dict)
    """Kept with it, beside the history."""
    in_bulk: bool = False
    """One of many that nobody is about to read."""
    _after: dict[str, Json | None] = field(default_factory=dict)

    def set(self, key: str, value: Json | None) -> None:
        """None removes the key."""
        self._after[key] = value

    def move(self, branch: str, head: MessageId | None) -> None:
        """Point a branch at `head`."""
        self.set(f"heads/{branch}", {"at": head})

    def create_branch(self, name: str, head: MessageId | None, rules: Rules) -> None:
        """A new branch. NameTaken where there is one of that name."""
        if f"heads/{name}" in self.view.entries:
            raise NameTaken(f"There is a branch “{name}” already.", "Choose another name, or check it out.")
        self.move(name, head)
        self.set_rules(name, rules)

    def set_rules(self, branch: str, rules: Rules) -> None:
        self.set(f"rules/{branch}", rules.stored() or None)

    def remove_branch(self, name: str) -> None:
        if f"heads/{name}" not in self.view.entries:
            raise NotFound(f"There is no branch “{name}”.")
        self.set(f"heads/{name}", None)
        self.set(f"rules/{name}", None)

    def keep(self, message: MessageId) -> None:
        """Keep a tip that no branch names any more visible."""
        self.set(f"kept/{message}", True)

    @property
    def changes(self) -> tuple[Change, ...]:
        """What differs from the view, by key."""
        entries = self.view.entries
        return tuple(
            Change(key, entries.get(key), after)
            for key, after in sorted(self._after.items())
            if entries.get(key) != after
        )

    def publish(
        self, verb: str, summary: str, *, group: int | None = None, reverts: Iterable[int] = ()
    ) -> Operation:
        """Write it all as one operation.

        Raises:
            Outdated: somebody moved one of the keys first (or, `alone`, did anything); nothing was written.
        """
        begun = time.perf_counter()
        try:
            operation = self.store.commit(self.commit(verb, summary, group=group, reverts=reverts))
        except Outdated:
            events.operation_outdated(conversation=self.conversation, verb=verb)
            raise
        seconds = time.perf_counter() - begun
        events.operation_published(
            conversation=self.conversation, number=operation.number, verb=verb, seconds=seconds
        )
        return operation

    def stored(self, message: Message) -> Message:
        """One of `messages`, once it is published, as the history has it.

        Where the same words stood there already, on another branch, that is the message of then: the first one stays.
        """
        return self.store.message(self.conversation, message.id)

    def commit(
        self, verb: str, summary: str, *, group: int | None = None, reverts: Iterable[int] = ()
    ) -> Commit:
        """What `publish` hands to the store: for those that publish several at once."""
        return Commit(
            conversation=self.conversation,
            verb=verb,
            summary=summary,
            changes=self.changes,
            messages=tuple(self.messages),
            generations=tuple(self.generations),
            actor=self.actor,
            at=now(),
            group=group,
            reverts=tuple(reverts),
            seen=self.view.version if self.alone else None,
            derived=self.derived,
            in_bulk=self.in_bulk,
        )
