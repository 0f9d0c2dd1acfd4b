"""Whose each branch is: the actor of the operation that created it, read from the log."""

from __future__ import annotations

from collections.abc import Iterable

from forky_core.model import Operation

_HEADS = "heads/"
_GOING_BACK = frozenset({"undo", "redo", "restore"})


class BranchOwners:
    """The owners of a conversation's branches, by the operations that were added so far."""

    def __init__(self) -> None:
        self.version = 0
        """The number of the last operation that was added."""
        self._by_branch: dict[str, str] = {}

    def add(self, operations: Iterable[Operation]) -> None:
        """Add further operations, oldest first.

        A branch that is renamed stays its owner's, and one that comes back by undo is again whose it was.
        """
        for operation in operations:
            self.version = operation.number
            heads = [change for change in operation.changes if change.key.startswith(_HEADS)]
            made = [change.key.removeprefix(_HEADS) for change in heads if change.before is None]
            gone = [change.key.removeprefix(_HEADS) for change in heads if change.after is None]
            for branch in made:
                if operation.verb in _GOING_BACK and branch in self._by_branch:
                    continue
                renamed = operation.verb == "rename" and len(gone) == 1
                former = self._by_branch.get(gone[0], "") if renamed else ""
                self._by_branch[branch] = former or operation.actor

    def of(self, branch: str) -> str:
        """The actor who made a branch of this name; "" if there never was one."""
        return self._by_branch.get(branch, "")
