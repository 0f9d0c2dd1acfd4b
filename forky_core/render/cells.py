"""Selects what a replay draws if it leaves out the cells of experiments, so that the run of one is a single step.

It leaves out the branches that lists leave out (forky_core/views/listed.py): those of cells, except for the one that is
checked out and those that somebody continued.
"""

from __future__ import annotations

from forky_core.model import Change, Operation
from forky_core.model.experiment import EXPERIMENTS, is_cell

_NOT_CONTINUING = frozenset({"experiment", "undo", "redo", "restore"})
"""Verbs by which nobody continues a branch: they only make, remove or restore branches."""


class DrawnChanges:
    """Selects the changes of each operation that are drawn. Call `of` for the operations in the order of the log."""

    def __init__(self, checked_out: str) -> None:
        self._drawn = {checked_out}
        """Branches that are drawn although they may be named like a cell."""
        self._current: set[str] = set()
        """The keys of the branches that the replay shows after the last operation."""
        self._earlier: set[str] = set()
        """The keys of kept tips that are an earlier answer of a cell."""
        self._experiments: frozenset[str] = frozenset()
        self._runs: set[int] = set()

    def of(self, operation: Operation) -> tuple[tuple[Change, ...], bool]:
        """Return the changes that are drawn, and whether the operation belongs to a run that is a step already."""
        before, is_in_run = self._experiments, operation.group in self._runs
        named = {
            change.key.removeprefix(EXPERIMENTS): change.after
            for change in operation.changes
            if change.key.startswith(EXPERIMENTS)
        }
        self._experiments = (before - named.keys()) | {name for name, after in named.items() if after}
        if operation.verb == "experiment" and operation.group is None:
            self._runs.add(operation.number)
        if is_in_run and operation.verb == "reply":
            self._earlier |= {change.key for change in operation.changes if change.key.startswith("kept/")}
        continues = not is_in_run and not named and operation.verb not in _NOT_CONTINUING
        experiments = before | self._experiments
        drawn: list[Change] = []
        for change in operation.changes:
            kind, _, name = change.key.partition("/")
            if kind == "heads":
                if name not in self._drawn and not continues and is_cell(name, experiments):
                    continue
                drawn.append(self._head(change, name))
            elif change.key not in self._earlier:
                drawn.append(change)
        return tuple(drawn), is_in_run

    def _head(self, change: Change, name: str) -> Change:
        """Return the change of a branch that is drawn; the whole branch appears if it was not drawn before."""
        self._drawn.add(name)
        is_shown = change.key in self._current
        if change.after is None:
            self._current.discard(change.key)
        else:
            self._current.add(change.key)
        return change if is_shown else Change(change.key, None, change.after)
