"""A copy of the database beside it, made while it is open: whole or not there at all."""

from __future__ import annotations

import errno
import shutil
from datetime import UTC, datetime
from pathlib import Path

from forky_core.errors import StoreError, StoreFull
from forky_core.store.file.database import DatabaseFile

_NO_ROOM = frozenset({errno.ENOSPC, errno.EROFS, errno.EDQUOT})


def back_up(file: DatabaseFile, moment: datetime | None = None) -> Path:
    """A copy named by the moment."""
    when = (moment or datetime.now(UTC)).astimezone().strftime("%Y-%m-%d-%H%M%S")
    return copied_beside(file, f"backup-{when}")


def copied_beside(file: DatabaseFile, label: str) -> Path:
    """Copy the file, its log folded in, to `<stem>.<label>`; everybody else waits as long as that takes.

    Raises:
        StoreFull: no room or no permission; nothing is left of the attempt.
    """
    backup = _free(file.path.with_name(f"{file.path.stem}.{label}{file.path.suffix}"))
    unfinished = backup.with_name(f"{backup.name}.part")
    with file.detached():
        try:
            shutil.copy2(file.path, unfinished)
            unfinished.replace(backup)
        except OSError as error:
            unfinished.unlink(missing_ok=True)
            if isinstance(error, PermissionError) or error.errno in _NO_ROOM:
                raise StoreFull(
                    f"The backup cannot be written to {backup.parent}: {error.strerror}.",
                    "Free some space there, or make the folder writable.",
                ) from error
            raise StoreError(f"The backup could not be made: {error.strerror or error}.") from error
    return backup


def _free(path: Path) -> Path:
    """`path`, or with a number where it is taken."""
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return free
