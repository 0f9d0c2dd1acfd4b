"""The view model of the History page: one page of the operation log, newest first, with what was undone marked.

The run of an experiment is one line, however many answers it brought: its operations are behind that line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forky_core.conversation.timeline import FOUNDING, STILL, Timeline
from forky_core.model import Operation
from forky_core.views.changes import sentences
from forky_core.views.times import ago, stamp

ENTRIES = 25
"""The number of operations on one page."""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One operation as a line."""

    operation: Operation
    when: str
    exactly: str
    undone: bool
    """Whether an undo that is still in force has undone it."""
    current: bool
    """Whether it, or the end of its run, is the last one, which made the current state."""
    with_: int | None
    """The number of the operation it belongs to, such as a reply's question."""
    run: tuple[LogEntry, ...] = ()
    """The operations of the experiment's run that this one began, newest first; () for any other operation."""

    @property
    def details(self) -> tuple[str, ...]:
        """Sentences about what changed."""
        return sentences(self.operation.changes)

    @property
    def end(self) -> Operation:
        """The operation after which it was done: itself, or the last one of its run."""
        return self.run[0].operation if self.run else self.operation

    @property
    def answers(self) -> int:
        """The number of replies in its run."""
        return sum(one.operation.verb == "reply" for one in self.run)


@dataclass(frozen=True, slots=True)
class LogPage:
    entries: tuple[LogEntry, ...]
    page: int
    """From 1, the newest; the existing page nearest to the requested one."""
    pages: int
    total: int


def runs_in(timeline: Timeline) -> Mapping[int, tuple[Operation, ...]]:
    """The operations of each run of an experiment, by the number of the operation that began it.

    Only operations that are in force or can be redone are included.
    """
    known = (*timeline.done, *(one for _, reverted in timeline.undone for one in reverted))
    begun = {one.number for one in known if one.verb == "experiment" and one.group is None}
    found: dict[int, list[Operation]] = {}
    for operation in known:
        if operation.group in begun:
            found.setdefault(operation.group, []).append(operation)
    return {number: tuple(sorted(run, key=lambda one: one.number)) for number, run in found.items()}


def listed_numbers(timeline: Timeline, total: int) -> Sequence[int]:
    """The numbers of the operations that have a line of their own, of a log with `total` operations, oldest first."""
    behind = {one.number for run in runs_in(timeline).values() for one in run}
    return (
        [number for number in range(1, total + 1) if number not in behind] if behind else range(1, total + 1)
    )


def numbers_of(page: int, listed: Sequence[int], entries: int = ENTRIES) -> tuple[int, int, int]:
    """Return the page, and the numbers of the first and the last operation on it."""
    pages = max(1, -(-len(listed) // entries))
    shown = min(max(page, 1), pages)
    end = len(listed) - (shown - 1) * entries
    some = listed[max(0, end - entries) : end]
    return (shown, some[0], some[-1]) if some else (shown, 1, 0)


def log_page(
    operations: Sequence[Operation],
    timeline: Timeline,
    *,
    now: int,
    page: int = 1,
    total: int,
    entries: int = ENTRIES,
) -> LogPage:
    """Build a page of the log; `operations` must include those of the page (`numbers_of`), and others are ignored."""
    listed = listed_numbers(timeline, total)
    shown, first, last = numbers_of(page, listed, entries)
    in_force, runs = timeline.in_force, runs_in(timeline)
    behind = {one.number for run in runs.values() for one in run}

    def entry(operation: Operation) -> LogEntry:
        run = runs.get(operation.number, ())
        return LogEntry(
            operation,
            ago(operation.at, now),
            stamp(operation.at),
            undone=operation.number != FOUNDING
            and operation.verb not in (*STILL, "undo", "redo")
            and operation.number not in in_force,
            current=total == (run[-1] if run else operation).number,
            with_=operation.group if operation.group != operation.number else None,
            run=tuple(entry(one) for one in reversed(run)),
        )

    lines = tuple(
        entry(operation)
        for operation in reversed(operations)
        if first <= operation.number <= last and operation.number not in behind
    )
    return LogPage(lines, shown, max(1, -(-len(listed) // entries)), total)
