"""Which operations of a log a replay draws where it leaves the cells of experiments out: a run is one step of it.

The same branches are left out as in lists (forky_core/views/listed.py): those of cells, but for the one that is checked
out and those on which somebody went on.
"""

from __future__ import annotations

from forky_core.model import Change, Operation
from forky_core.model.experiment import EXPERIMENTS, is_cell

_NOBODYS = frozenset({"experiment", "undo", "redo", "restore"})
"""Verbs by which nobody goes on at a branch: they make, remove or bring back what others have made."""


class DrawnChanges:
    """Says what of each operation is drawn. Ask in the order of the log."""

    def __init__(self, checked_out: str) -> None:
        self._drawn = {checked_out}
        """Branches that are drawn, though they may be named like a cell."""
        self._there: set[str] = set()
        """The keys of those that are drawn now."""
        self._earlier: set[str] = set()
        """The keys of kept tips that are an earlier answer of a cell."""
        self._experiments: frozenset[str] = frozenset()
        self._runs: set[int] = set()

    def of(self, operation: Operation) -> tuple[tuple[Change, ...], bool]:
        """The changes that are drawn, and whether the operation belongs to a run, which is a step already."""
        before, behind = self._experiments, operation.group in self._runs
        named = {
            change.key.removeprefix(EXPERIMENTS): change.after
            for change in operation.changes
            if change.key.startswith(EXPERIMENTS)
        }
        self._experiments = (before - named.keys()) | {name for name, after in named.items() if after}
        if operation.verb == "experiment" and operation.group is None:
            self._runs.add(operation.number)
        if behind and operation.verb == "reply":
            self._earlier |= {change.key for change in operation.changes if change.key.startswith("kept/")}
        goes_on = not behind and not named and operation.verb not in _NOBODYS
        experiments = before | self._experiments
        drawn: list[Change] = []
        for change in operation.changes:
            kind, _, name = change.key.partition("/")
            if kind == "heads":
                if name not in self._drawn and not goes_on and is_cell(name, experiments):
                    continue
                drawn.append(self._head(change, name))
            elif change.key not in self._earlier:
                drawn.append(change)
        return tuple(drawn), behind

    def _head(self, change: Change, name: str) -> Change:
        """A change of a branch that is drawn. Where it was a cell until now, it comes with everything above it."""
        self._drawn.add(name)
        there = change.key in self._there
        if change.after is None:
            self._there.discard(change.key)
        else:
            self._there.add(change.key)
        return change if there else Change(change.key, None, change.after)
