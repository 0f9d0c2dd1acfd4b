"""Which operations can be undone and redone: one fold over the log (law 5).

An undo names the operations it took back, a redo the undo it took back, so the answer follows from the log alone and
survives a restart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from forky_core.model import Change, Operation, View
from forky_core.model.erasure import ERASED
from forky_core.model.erasure import VERB as ERASE
from forky_core.model.parts import Json

FOUNDING = 1
"""Number of the first operation, whatever its verb. Undoing it would leave a conversation without a branch."""
STILL = frozenset({"bisect", "review", ERASE})
"""Verbs of operations that only record something, so that there is nothing to undo, or that nobody can undo."""
LASTING = ("reviews/", ERASED)
"""The prefixes of keys that undo, redo and restore leave as they are."""
HEADS = "heads/"
"""The prefix of the keys that stand for a branch each."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """The state of undo and redo after the operations applied so far."""

    version: int = 0
    done: tuple[Operation, ...] = ()
    """Operations in force that undo can revert, oldest first, without the one that created the conversation."""
    undone: tuple[tuple[Operation, tuple[Operation, ...]], ...] = ()
    """Each undo that redo can revert, with the operations it reverted, oldest first."""

    def after(self, operations: Sequence[Operation]) -> Timeline:
        """The state after these further operations, oldest first."""
        if not operations:
            return self
        done, undone = list(self.done), list(self.undone)
        for operation in operations:
            if operation.verb == "undo":
                reverted = tuple(o for o in done if o.number in operation.reverts)
                done = [o for o in done if o.number not in operation.reverts]
                undone.append((operation, reverted))
            elif operation.verb == "redo":
                if undone:
                    done.extend(undone.pop()[1])
            elif operation.number != FOUNDING and operation.verb not in STILL:
                done.append(operation)
                undone.clear()
        return Timeline(operations[-1].number, tuple(done), tuple(undone))

    @property
    def next_undo(self) -> tuple[Operation, ...]:
        """What undo would revert, oldest first: the last gesture, or () if there is nothing.

        A gesture's operations (a question and its reply) go together, unless something else has since changed the keys
        that the earlier ones changed, or deleted a branch while they made one: reverting them together could leave a
        conversation without a branch.
        """
        if not self.done:
            return ()
        last = self.done[-1]
        if last.group is None:
            return (last,)
        start = next(i for i, o in enumerate(self.done) if last.group in (o.group, o.number))
        tail = self.done[start:]
        together = tuple(o for o in tail if last.group in (o.group, o.number))
        numbers = {o.number for o in together}
        own = [change for o in together for change in o.changes]
        others = [change for o in tail if o.number not in numbers for change in o.changes]
        if {change.key for change in own} & {change.key for change in others}:
            return (last,)
        made = any(change.before is None for change in own if change.key.startswith(HEADS))
        deleted = any(change.after is None for change in others if change.key.startswith(HEADS))
        return (last,) if made and deleted else together

    @property
    def in_force(self) -> frozenset[int]:
        """Numbers of the operations that are not undone."""
        return frozenset(operation.number for operation in self.done)

    @property
    def next_redo(self) -> tuple[Operation, ...]:
        """What redo would bring back, oldest first."""
        return self.undone[-1][1] if self.undone else ()


def inverse(operations: Sequence[Operation], entries: Mapping[str, Json]) -> tuple[Change, ...]:
    """The changes that revert `operations` (oldest first) in a view with these entries."""
    after: dict[str, Json | None] = {}
    for operation in reversed(operations):
        for change in operation.changes:
            after[change.key] = change.before
    return _difference(entries, after)


def forward(operations: Sequence[Operation], entries: Mapping[str, Json]) -> tuple[Change, ...]:
    """The changes that apply `operations` (oldest first) again."""
    after: dict[str, Json | None] = {}
    for operation in operations:
        for change in operation.changes:
            after[change.key] = change.after
    return _difference(entries, after)


def _difference(entries: Mapping[str, Json], after: Mapping[str, Json | None]) -> tuple[Change, ...]:
    return tuple(
        Change(key, entries.get(key), value)
        for key, value in sorted(after.items())
        if entries.get(key) != value and not key.startswith(LASTING)
    )


def changes_to(view: View, target: View) -> tuple[Change, ...]:
    """The changes that turn `view` into `target`."""
    keys = view.entries.keys() | target.entries.keys()
    return _difference(view.entries, MappingProxyType({key: target.entries.get(key) for key in keys}))
