"""Follows a file that another program keeps writing (llm's logs.db, a spool of calls), or a folder of such files (the
sessions of an agent's program), and imports each addition.

An import adds only what is not stored yet, so following means importing whenever the file has changed. It reads a
consistent copy: of a database by SQLite's own backup, which includes its write-ahead log and waits for a writer.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event

from forky_core.conversation.workspace import Workspace
from forky_core.formats.files.source import SQLITE, files_in
from forky_core.formats.files.spools import spool
from forky_core.formats.importing.import_record import ImportedFile, forget_import
from forky_core.formats.importing.landing import Imported, import_file
from forky_core.model.errors import BadContent

EVERY = 2.0
"""Seconds between two checks."""
_SUFFIXES = frozenset((".jsonl", ".json"))
"""How the names of files end that are followed in a folder."""
_UNSETTLED = b'{"type":"queue-operation"'
"""How lines of Claude Code begin that are left out: a prompt that waits gets its place, and a line, when it is read."""
_REST = 10
"""How many times longer than it took to read a file it is left alone: a large database changes all the time."""
_PATIENCE = 30.0
"""Seconds to wait for a program that is writing."""

_INDEX_HEADER = 48
"""Bytes of one of the two equal headers of a write-ahead log's index (https://sqlite.org/walformat.html, 2.2)."""

Signs = tuple[int | bytes, ...]
"""Evidence of a change: the modification time and length of each file, and the header of the log's index.

SQLite writes a commit to the log, waits for the disk, and then enters it in the index, which readers rely on. A reader
in between gets the former state; after that only the index changes.
"""


class Watch:
    """A file that another program keeps writing, or a folder of such files, and what of it has been imported.

    They leave no record of an import: there would be one for each addition, and no one is undone by itself.
    """

    def __init__(self, path: Path, read: int = 0) -> None:
        """Files of a folder that have not changed since `read` are taken to be imported; see `read`."""
        self.path = path
        self.read = read
        """When the file changed last that was imported, in nanoseconds since the epoch, by the file system's clock."""
        self._before = read
        self._rests_until = 0.0
        self._seen: dict[Path, Signs] = {}

    def look(self, forky: Workspace, stop: Event) -> Iterator[Imported]:
        """Import what has changed since the last look, file by file.

        Raises:
            BadContent: a single file has no known format; a folder's files of other kinds are passed over.
            StoreError: the database cannot store it.
        """
        for changed, file, signs in sorted(self._changed()):
            if stop.is_set() or time.monotonic() < self._rests_until:
                return
            began = time.monotonic()
            try:
                done = _imported(forky, file)
                if done is None:
                    continue
            except BadContent:
                if file == self.path:
                    raise
                done = None
            self._seen[file], self.read = signs, max(self.read, changed)
            if file == self.path:  # All of it was read again.
                self._rests_until = time.monotonic() + _REST * (time.monotonic() - began)
            if done is not None and done.number:
                forget_import(forky.store, done.number)
            if done is not None and (done.number or file == self.path):
                yield replace(done, number=0)

    def _changed(self) -> Iterator[tuple[int, Path, Signs]]:
        """Yield the file, or the files of a folder, that have changed, with the times at which they did."""
        if not self.path.is_dir():
            now = _signs(self.path)
            if now is not None and now != self._seen.get(self.path):
                yield 0, self.path, now
            return
        for file in files_in(self.path):
            if file.suffix not in _SUFFIXES:
                continue
            with suppress(OSError):
                status = file.stat()
                signs = (status.st_mtime_ns, status.st_size)
                known = self._seen.get(file)
                if known is None and status.st_ctime_ns <= self._before:
                    self._seen[file] = signs
                elif known != signs:
                    yield status.st_ctime_ns, file, signs


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
    watch = Watch(path)
    unreadable_since = 0.0
    while True:
        try:
            for done in watch.look(forky, stop):
                on_import(done)
            unreadable_since = 0.0
        except BadContent:
            unreadable_since = unreadable_since or time.monotonic()
            if time.monotonic() - unreadable_since >= patience:
                raise
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


def is_database(path: Path) -> bool:
    """Return whether there is a database of SQLite at a path. Raises OSError if it may not be read."""
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def _copy(path: Path, to: Path) -> None:
    if not is_database(path):
        with path.open("rb") as file, to.open("wb") as copy:
            copy.writelines(line for line in file if not line.startswith(_UNSETTLED))
        return
    address = f"{path.resolve().as_uri()}?mode=ro"
    with (
        closing(sqlite3.connect(address, uri=True, timeout=_PATIENCE)) as source,
        closing(sqlite3.connect(to)) as target,
    ):
        source.backup(target)
