"""Where each branch comes from, read from the log: who made it, with which model, and its former names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from forky_core.model import Operation

_HEADS, _RULES = "heads/", "rules/"
_GOING_BACK = frozenset({"undo", "redo", "restore"})


@dataclass(frozen=True, slots=True)
class BranchOrigin:
    """What the log says about how a branch began."""

    maker: str = ""
    """The actor who made it; "" if there never was one of this name."""
    model: str | None = None
    """The model that its rules named when it was made; a fork has the rules of the branch it was forked from."""
    number: int = 0
    """The number of the operation that made it; 0 if there never was one of this name."""
    former: tuple[tuple[str, int], ...] = ()
    """The names it had before, the newest first, each with the time of the renaming in microseconds since the epoch."""


UNKNOWN = BranchOrigin()


class BranchOrigins:
    """The origins of a conversation's branches, by the operations that were added so far."""

    def __init__(self, operations: Iterable[Operation] = ()) -> None:
        self.version = 0
        """The number of the last operation that was added."""
        self._by_branch: dict[str, BranchOrigin] = {}
        self.add(operations)

    def add(self, operations: Iterable[Operation]) -> None:
        """Add further operations, oldest first.

        A branch that is renamed keeps its origin, and one that comes back by undo has its own again.
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
                known = self._by_branch.get(gone[0]) if renamed else None
                if known is None:
                    self._by_branch[branch] = BranchOrigin(
                        operation.actor, _model(operation, branch), operation.number
                    )
                else:
                    former = ((gone[0], operation.at), *known.former)
                    self._by_branch[branch] = replace(known, former=former)

    def of(self, branch: str) -> BranchOrigin:
        """The origin of the branch that has, or had last, this name; `UNKNOWN` if there never was one."""
        return self._by_branch.get(branch, UNKNOWN)


def _model(operation: Operation, branch: str) -> str | None:
    rules = next((one.after for one in operation.changes if one.key == _RULES + branch), None)
    model = rules.get("model") if isinstance(rules, dict) else None
    return model if isinstance(model, str) else None
