"""Follows a file that another program keeps writing (llm's logs.db, a spool of calls), and imports each addition.

An import adds only what is not stored yet, so following means importing whenever the file has changed. It reads a
consistent copy: of a database by SQLite's own backup, which includes its write-ahead log and waits for a writer.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from threading import Event

from forky_core.conversation.workspace import Workspace
from forky_core.formats.files.spools import spool
from forky_core.formats.importing.import_record import ImportedFile
from forky_core.formats.importing.landing import Imported, import_file
from forky_core.model.errors import BadContent

EVERY = 2.0
"""Seconds between two checks."""
_PATIENCE = 30.0
"""Seconds to wait for a program that is writing."""

_INDEX_HEADER = 48
"""Bytes of one of the two equal headers of a write-ahead log's index (https://sqlite.org/walformat.html, 2.2)."""

Signs = tuple[int | bytes, ...]
"""Evidence of a change: the modification time and length of each file, and the header of the log's index.

SQLite writes a commit to the log, waits for the disk, and then enters it in the index, which readers rely on. A reader
in between gets the former state; after that only the index changes.
"""


def follow(
    forky: Workspace,
    path: Path,
    on_import: Callable[[Imported], None],
    *,
    stop: Event,
    every: float = EVERY,
    patience: float = 10.0,
) -> None:
    """Import `path` now and after each change, until `stop` is set. It waits for a file that does not exist yet.

    Raises:
        BadContent: the file has had no known format for `patience` seconds, since a new file may be unfinished.
    """
    seen: Signs | None = None
    unreadable_since = 0.0
    while True:
        now = _signs(path)
        if now is not None and now != seen:
            try:
                done = _imported(forky, path)
            except BadContent:
                done, unreadable_since = None, unreadable_since or time.monotonic()
                if time.monotonic() - unreadable_since >= patience:
                    raise
            if done is not None:
                seen, unreadable_since = now, 0.0
                on_import(done)
        if stop.wait(every):
            return


def _signs(path: Path) -> Signs | None:
    """The evidence of a change; None if there is no such file."""
    signs: list[int | bytes] = []
    for file in (path, path.with_name(f"{path.name}-wal")):
        try:
            status = file.stat()
        except OSError:
            if file == path:
                return None
        else:
            signs += (status.st_mtime_ns, status.st_size)
    with suppress(OSError), path.with_name(f"{path.name}-shm").open("rb") as index:
        signs.append(index.read(_INDEX_HEADER))
    return tuple(signs)


def _imported(forky: Workspace, path: Path) -> Imported | None:
    """Import the file; None if it cannot be read at this moment."""
    with spool("follow") as folder:
        copy = folder / path.name
        try:
            _copy(path, copy)
        except (OSError, sqlite3.OperationalError):
            return None  # Another program has it locked, or is replacing it: try again at the next check.
        except sqlite3.DatabaseError as error:
            raise BadContent(f"“{path.name}” is no database that can be read: {error}.") from error
        source = ImportedFile.followed(path, copy.stat().st_size)
        return import_file(forky, copy, source=source, brings_again=False)


def _copy(path: Path, to: Path) -> None:
    with path.open("rb") as file:
        database = file.read(16) == b"SQLite format 3\x00"
    if not database:
        shutil.copyfile(path, to)
        return
    address = f"{path.resolve().as_uri()}?mode=ro"
    with (
        closing(sqlite3.connect(address, uri=True, timeout=_PATIENCE)) as source,
        closing(sqlite3.connect(to)) as target,
    ):
        source.backup(target)
