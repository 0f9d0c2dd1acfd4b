"""The log entry of one import: the format and size of its file, and how it ended with which numbers; never a name."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from forky_core.formats.importing.running_import import Imported
from forky_core.model.errors import ImportBrokenOff, NothingToDo
from forky_core.process import events


class ImportLog:
    """What is known of an import while it runs, for its log entry."""

    def __init__(self, path: Path) -> None:
        self.kind = ""
        """The format of the file's content."""
        self.done: Imported | None = None
        """The result of the import, once it has ended."""
        self.number: int | None = None
        """The number of the record, if the import was interrupted and its record stays."""
        self._begun = time.perf_counter()
        try:
            self._size = path.stat().st_size
        except OSError:
            self._size = 0

    def begin(self) -> None:
        events.import_started(size=self._size)

    def end(self, state: str) -> None:
        done = self.done
        events.import_ended(
            state=state,
            conversations=len(done.conversations) if done else 0,
            messages=done.account.imported if done else 0,
            size=self._size,
            seconds=time.perf_counter() - self._begun,
            number=done.number if done else self.number,
            kind=self.kind or None,
            unchanged=done.unchanged if done else None,
            problems=len(done.problems) if done else None,
        )


@contextmanager
def logged(path: Path) -> Iterator[ImportLog]:
    """Log an import that runs in the block; an exception that leaves the block determines how it ended."""
    log, state = ImportLog(path), "failed"
    log.begin()
    try:
        yield log
        state = "done"
    except NothingToDo:
        state = "stopped"
        raise
    except BaseException as error:
        if isinstance(error, ImportBrokenOff):
            state, log.number = "broken off", error.number
        events.import_failed(fault=error)
        raise
    finally:
        log.end(state)
