"""One change of one conversation, built in memory and published at once (law 5; after jj's `transaction.rs`).

Nothing is written before `publish`, and then all of it or nothing. Each key carries the value its author saw, so a lost
race raises `Outdated` instead of overwriting.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

from forky_core.conversation.identity import now
from forky_core.model import Change, ConversationId, Generation, Message, MessageId, Operation, Rules, View
from forky_core.model.errors import NameTaken, NotFound, NothingToDo, Outdated
from forky_core.model.parts import Json
from forky_core.process import events
from forky_core.store.contract import Commit, Store

T = TypeVar("T")
_TRIES = 50
_MARK = ContextVar("mark", default="")
"""The key under which what is published now can be found again."""


@contextmanager
def marked(key: str) -> Iterator[None]:
    """Store a derived value under a key with each commit that this thread publishes meanwhile, by which
    `marked_operation` finds it even if the process dies at once.

    A commit that only begins a conversation is not marked, since what the conversation was begun for follows.
    """
    token = _MARK.set(key)
    try:
        yield
    finally:
        _MARK.reset(token)


def marked_operation(store: Store, conversation: ConversationId, mark: str) -> Operation | None:
    """Return the operation whose commit was marked; `mark` is the derived value. None if it was erased since."""
    after, at = json.loads(mark)
    return next((one for one in store.operations(conversation, after=after) if one.at == at), None)


def with_a_free_key(kind: str, work: Callable[[], T]) -> T:
    """Call `work` and return its result; retry if it lost a race for a name or number that nobody chose.

    `kind` is the prefix of its key: `heads/`, `stash/`. `work` must read the view anew each time, and write nothing
    before its one `publish`.
    """

    def is_of_kind(error: Outdated) -> bool:
        return error.first is not None and any(change.key.startswith(kind) for change in error.first.changes)

    return after_races(work, is_of_kind)


def after_races(work: Callable[[], T], is_repeated: Callable[[Outdated], bool] = lambda _: True) -> T:
    """Call `work` and return its result; call it again if it lost a race, as long as that `is_repeated`.

    `work` must read the view anew each time, and write nothing before its one `publish`.
    """
    for _ in range(_TRIES):
        try:
            return work()
        except Outdated as error:
            if not is_repeated(error):
                raise
    return work()


@dataclass(slots=True)
class Transaction:
    """Collects changed keys, new messages and generations on top of one view."""

    store: Store
    conversation: ConversationId
    view: View
    """The view that the author saw."""
    actor: str
    messages: list[Message] = field(default_factory=list)
    generations: list[Generation] = field(default_factory=list)
    alone: bool = False
    """Whether to refuse the commit if any operation followed `view`, not only one that changed the same keys."""
    derived: dict[str, str] = field(default_factory=dict)
    """Derived values to store with it, outside the history."""
    in_bulk: bool = False
    """Whether it is part of a bulk import that nobody is about to read."""
    _after: dict[str, Json | None] = field(default_factory=dict)
    _required: set[str] = field(default_factory=set)

    def require(self, key: str) -> None:
        """Refuse the commit if somebody changes this key first, although this change leaves it as it is."""
        self._required.add(key)

    def set(self, key: str, value: Json | None) -> None:
        """Set a key; None removes it."""
        self._after[key] = value

    def move(self, branch: str, head: MessageId | None) -> None:
        """Point a branch at `head`."""
        self.set(f"heads/{branch}", {"at": head})

    def create_branch(self, name: str, head: MessageId | None, rules: Rules) -> None:
        """Create a branch. Raises NameTaken if the name is in use."""
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
        """Keep a tip visible that no branch names any more."""
        self.set(f"kept/{message}", True)

    @property
    def changes(self) -> tuple[Change, ...]:
        """The differences from the view, by key, and the required keys as they are."""
        entries = self.view.entries
        after = {key: entries.get(key) for key in self._required} | self._after
        return tuple(
            Change(key, entries.get(key), value)
            for key, value in sorted(after.items())
            if entries.get(key) != value or key in self._required
        )

    def publish(
        self,
        verb: str,
        summary: str,
        *,
        group: int | None = None,
        reverts: Iterable[int] = (),
        unchanged: str = "",
    ) -> Operation:
        """Publish everything as one operation. `unchanged` is the sentence for a person if nothing would change.

        Raises:
            NothingToDo: there are no changes, and `unchanged` says so.
            Outdated: somebody changed one of the keys first (or, with `alone`, anything); nothing was written.
        """
        if unchanged and not self.changes:
            raise NothingToDo(unchanged)
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
        """After publishing, the stored message for one of `messages`.

        If the same message existed already, on another branch, that one is returned: the first one stays.
        """
        return self.store.message(self.conversation, message.id)

    def commit(
        self, verb: str, summary: str, *, group: int | None = None, reverts: Iterable[int] = ()
    ) -> Commit:
        """The commit that `publish` would pass to the store, for callers that publish several at once."""
        at, mark = now(), _MARK.get()
        marks = {mark: json.dumps([self.view.version, at])} if mark and self.view.version else {}
        return Commit(
            conversation=self.conversation,
            verb=verb,
            summary=summary,
            changes=self.changes,
            messages=tuple(self.messages),
            generations=tuple(self.generations),
            actor=self.actor,
            at=at,
            group=group,
            reverts=tuple(reverts),
            expected=self.view.version if self.alone else None,
            derived=self.derived | marks,
            in_bulk=self.in_bulk,
        )
