"""Backups made while the database is open: a copy beside the file, complete or not there at all."""

from __future__ import annotations

import errno
from datetime import UTC, datetime
from pathlib import Path

from forky_core.model.errors import StoreError, StoreFull
from forky_core.process.private_files import copy
from forky_core.store.duckdb.file.copies import backup_name
from forky_core.store.duckdb.file.database import DatabaseFile
from forky_core.store.duckdb.file.trouble import NO_ROOM

_NO_PLACE = NO_ROOM | {errno.EROFS}


def back_up(file: DatabaseFile) -> Path:
    """Back up the file to a copy named after the time."""
    when = datetime.now(UTC).astimezone().strftime("%Y-%m-%d-%H%M%S")
    return copied_beside(file, f"backup-{when}")


def copied_beside(file: DatabaseFile, label: str) -> Path:
    """Copy the file, with its log folded in, to `<stem>.<label>`; all other calls wait until the copy is done.

    Raises:
        StoreFull: no room or no permission; nothing is left of the attempt.
    """
    backup = _free(backup_name(file.path, label))
    unfinished = backup.with_name(f"{backup.name}.part")
    with file.detached():
        try:
            unfinished.unlink(missing_ok=True)  # A crash may have left it behind.
            copy(file.path, unfinished)
            unfinished.replace(backup)
        except OSError as error:
            unfinished.unlink(missing_ok=True)
            if isinstance(error, PermissionError) or error.errno in _NO_PLACE:
                raise StoreFull(
                    f"The backup {backup.name} cannot be written to {backup.parent}: {error.strerror}. "
                    "Nothing of it was kept.",
                    "Free some space there, or make the folder writable.",
                ) from error
            raise StoreError(
                f"The backup {backup.name} could not be made: {error.strerror or error}. Nothing of it was kept."
            ) from error
    return backup


def _free(path: Path) -> Path:
    """`path`, or `path` with a number if the name is taken."""
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return free
