"""The view model of the History page: one page of the operation log, newest first, with what was undone marked."""

from __future__ import annotations

from collections.abc import Sequence
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
    """Whether it is the last one, which made the current state."""
    with_: int | None
    """The number of the operation it belongs to, such as a reply's question."""

    @property
    def details(self) -> tuple[str, ...]:
        """Sentences about what changed."""
        return sentences(self.operation.changes)


@dataclass(frozen=True, slots=True)
class LogPage:
    entries: tuple[LogEntry, ...]
    page: int
    """From 1, the newest; the existing page nearest to the requested one."""
    pages: int
    total: int


def numbers_of(page: int, total: int, entries: int = ENTRIES) -> tuple[int, int, int]:
    """Return (page, first, last): operation numbers of a page of a log with `total` operations."""
    pages = max(1, -(-total // entries))
    shown = min(max(page, 1), pages)
    last = total - (shown - 1) * entries
    return shown, max(1, last - entries + 1), last


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
    shown, first, last = numbers_of(page, total, entries)
    in_force = timeline.in_force
    lines = tuple(
        LogEntry(
            operation,
            ago(operation.at, now),
            stamp(operation.at),
            undone=operation.number != FOUNDING
            and operation.verb not in (*STILL, "undo", "redo")
            and operation.number not in in_force,
            current=operation.number == total,
            with_=operation.group if operation.group != operation.number else None,
        )
        for operation in reversed(operations)
        if first <= operation.number <= last
    )
    return LogPage(lines, shown, max(1, -(-total // entries)), total)
