"""The private file beside a database by which a running Forky tells commands of the same person how to reach it.

Whoever may read the file may read the database, so that what it offers is no new right.
"""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from forky_core.process.private_files import new_file


@dataclass(frozen=True, slots=True)
class ServerNote:
    """What the file says."""

    address: str
    secret: str = field(repr=False)
    process: int
    """The id of the server's process."""


def note_beside(database: Path) -> Path:
    """Where the file of a database is."""
    return database.with_name(f"{database.name}.server")


def write_note(database: Path, address: str) -> ServerNote:
    """Write the file of this process, in place of an older one. Raises OSError if it cannot be written."""
    note = ServerNote(address, secrets.token_urlsafe(32), os.getpid())
    path = note_beside(database)
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(new_file(fresh), "w", encoding="utf-8") as file:
        json.dump({"address": note.address, "secret": note.secret, "process": note.process}, file)
    fresh.replace(path)
    return note


def read_note(database: Path, holder: int | None) -> ServerNote | None:
    """The file of the server that has a database open, whose process is `holder`; None if that wrote none.

    A file that another process left behind counts for nothing: somebody else may listen at its address by now.
    """
    try:
        read = json.loads(note_beside(database).read_text("utf-8"))
        note = ServerNote(str(read["address"]), str(read["secret"]), int(read["process"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return note if holder == note.process and holder != os.getpid() else None


def note_of_holder(database: Path) -> ServerNote | None:
    """The file of the server that has a database open, as far as the system says who has: Linux does. None: not known.

    Nothing is opened, since a process that closes a file gives up its locks of it.
    """
    with suppress(OSError, ValueError):
        mine = database.stat()
        where = f"{os.major(mine.st_dev):02x}:{os.minor(mine.st_dev):02x}:{mine.st_ino}"
        for line in Path("/proc/locks").read_text("ascii").splitlines():
            _, kind, _, how, process, place, *_ = line.split()
            if (kind, how, place) == ("POSIX", "WRITE", where):
                return read_note(database, int(process))
    return None


def remove_note(database: Path, note: ServerNote) -> None:
    """Remove the file when its server ends, unless another one has written its own."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        path = note_beside(database)
        if json.loads(path.read_text("utf-8"))["secret"] == note.secret:
            path.unlink()
