"""One open database file: a cursor for each call, and exclusive access for work that allows none.

A DuckDB connection shared between threads hands one thread another's rows, so every call takes a cursor of its own and
drains it at once. Re-attaching the file makes rows that this process wrote as fast to scan as any others; it requires a
moment without cursors, which the gate provides.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from threading import Condition
from typing import Any, TypeVar

import duckdb

from forky_core.model.errors import NOTHING_SAVED, StoreDamaged, StoreError, StoreFull
from forky_core.process.private_files import FOLDER, POSIX, new_file, refuse_planted, tighten
from forky_core.store.duckdb import statements
from forky_core.store.duckdb.file.copies import copies_of
from forky_core.store.duckdb.file.trouble import (
    damaged_log,
    damaged_part,
    file_error,
    is_invalid,
    refused_write,
    store_error,
)
from forky_core.store.duckdb.file.wal import log_of, log_state
from forky_core.store.duckdb.running import FileSession, execute, fetch
from forky_core.store.rows import Row

T = TypeVar("T")
BLOCK_SIZE = 65536
"""A quarter of DuckDB's own: a small database takes 0.3 MB instead of 1.1 MB, at no cost."""
ROW_GROUP_SIZE = 4096
"""Rows that are compressed together, a thirtieth of DuckDB's default: a checkpoint joins rows appended since into whole
groups, several of them in memory at once. With the default an import used 500 MB more and blocked everybody for
seconds.
"""
CHECKPOINT_THRESHOLD = "32MB"
"""A checkpoint stalls everyone, so it should run when idle and only rarely under load; until it runs, written rows also
stay in memory.
"""
_IN_BULK = ("SET checkpoint_threshold = '16MB'", "SET max_vacuum_tasks = 0")
"""Settings while an import is written, until the writer is idle. Rows written since the last checkpoint are in memory;
a checkpoint that joined groups that are not full would also hold those, decompressed. Checkpoints in idle time do that.
"""
_CACHED_IN_BULK = 8_000_000
"""Bytes of the file that stay in memory while an import is written."""
_IN_USE = "SELECT coalesce(sum(memory_usage_bytes), 0) FROM duckdb_memory() WHERE tag <> 'BASE_TABLE'"


class DatabaseFile:
    sql = statements

    def __init__(self, path: Path) -> None:
        self.path = path
        self._log = str(log_of(path))
        self._gate = Condition()
        self._inside = 0
        self._alone = False
        self._broken = False
        self._damaged = False
        """Whether some of the file could not be read. From then on nothing is written and the log is not folded in, so
        that the rest is preserved.
        """
        self.ready = False
        """Whether the file was verified to be a database of Forky's with the newest schema."""
        self._closed = False
        self.cut_off = _bytes_cut_off(path)
        """Bytes at the end of the log that did not form a whole commit when the file was opened, and were ignored."""
        self._root = duckdb.connect(
            ":memory:",
            config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"},
        )
        # Without this setting, DuckDB spills into the folder in which Forky was started.
        self._spill = path.with_name(f".{path.name}.tmp")
        made = False
        try:
            made = _private_folder(self._spill)
            self._root.execute("SET temp_directory = $1", [str(self._spill)])
            if POSIX and not path.exists():
                self._make_file()
            self._attach()
            self._identity = _identity(path)
            self._owners = frozenset({path.stat().st_uid, os.geteuid()}) if POSIX else frozenset()
            """Users whose log may be written to: this process's user and the owner of the database."""
        except BaseException as error:
            self._root.close()
            if made:
                _remove_folder(self._spill)
            if isinstance(error, duckdb.Error):
                raise store_error(error, path) from error
            if isinstance(error, OSError):
                raise file_error(error, path) from error
            raise
        for found in _files_of(path):
            tighten(found)

    def _make_file(self) -> None:
        """Create an empty database that only its owner can read, from its first byte on.

        DuckDB creates a file with the permissions of the process (0666 without its umask), which cannot be changed for
        one thread, and it refuses an existing empty file. So the file is created in a private folder and moved into
        place.
        """
        folder = Path(mkdtemp(prefix=".forky-", dir=self.path.parent))
        try:
            made = folder / self.path.name
            self._attach(made)
            self._root.execute("DETACH DATABASE forky")
            tighten(made)
            try:
                os.link(made, self.path)
            except FileExistsError:
                """Another process was quicker; its file is opened, or refused because it is in use."""
            except OSError:
                made.rename(self.path)  # The file system has no hard links.
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _attach(self, path: Path | None = None) -> None:
        path = path or self.path
        quoted = str(path).replace("'", "''")
        new = "" if path.exists() else f"BLOCK_SIZE {BLOCK_SIZE}, "
        self._root.execute(f"SET checkpoint_threshold = '{CHECKPOINT_THRESHOLD}'")
        self._root.execute("RESET max_vacuum_tasks")
        self._root.execute(f"ATTACH '{quoted}' AS forky ({new}ROW_GROUP_SIZE {ROW_GROUP_SIZE})")

    def let_go_of_blocks(self) -> None:
        """Evict blocks of the file from memory, except what was written since the last checkpoint.

        Otherwise DuckDB would keep all it has read or written, up to most of the machine's memory.
        """
        if not self._lock_out(0.0):
            return  # A query at that moment could run out of memory.
        with self._locked_out():
            ((in_use,),) = self._root.execute(_IN_USE).fetchall()
            try:
                self._root.execute(f"SET memory_limit = '{int(in_use) + _CACHED_IN_BULK}B'")
            except duckdb.OutOfMemoryException:
                """More is in use by now; what was not is gone all the same."""
            finally:
                self._root.execute("RESET memory_limit")
            for setting in _IN_BULK:
                self._root.execute(setting)

    def before_writing(self) -> None:
        """Check the file; call this before each transaction that writes.

        Raises:
            StoreDamaged: something in the file could not be read since it was opened.
            StoreError: the file was moved, removed or replaced, or somebody else's log stands beside it.
        """
        self.refuse_damaged()
        self.still_there()
        self._private_log()

    def refuse_damaged(self) -> None:
        """Raise StoreDamaged if some of the file could not be read since it was opened."""
        if self._damaged:
            raise refused_write(self.path)

    @property
    def damaged(self) -> bool:
        """Whether some of the file could not be read since it was opened."""
        return self._damaged

    def distrust(self) -> StoreDamaged:
        """Stop all further writes to the file, and return the error to raise for the failed read."""
        self._damaged = True
        return damaged_part(self.path)

    @contextmanager
    def decoding(self) -> Iterator[None]:
        """Wrap code that makes values of rows; rows that cannot be decoded are reported as damage.

        They mean that DuckDB returned what was never written. Text that cannot be encoded comes from the caller,
        though, and is no damage.
        """
        try:
            yield
        except UnicodeEncodeError:
            raise
        except (ValueError, TypeError, LookupError) as error:
            raise self.distrust() from error

    def _private_log(self) -> None:
        """Create the log before DuckDB does, so that nobody else can read it from its first byte on.

        DuckDB removes the log at each checkpoint and creates the next one with the permissions of the process.
        """
        if not POSIX:
            return
        try:
            found = os.lstat(self._log)
        except FileNotFoundError:
            with suppress(OSError):  # If Forky cannot create it, DuckDB will report why.
                os.close(new_file(Path(self._log)))
            return
        if not stat.S_ISREG(found.st_mode) or found.st_uid not in self._owners:
            raise StoreError(
                f"{self._log} is not Forky's log: somebody else put it there{NOTHING_SAVED}",
                "Move it away, and keep the database in a folder that only you can write to.",
            )
        if found.st_mode & 0o077:
            tighten(Path(self._log))

    def still_there(self) -> None:
        """Raise StoreError if the file was moved, removed or replaced: further writes would be lost."""
        found = _identity(self.path)
        if found is None:
            raise StoreError(
                f"{self.path} is gone{NOTHING_SAVED}",
                "Put the file back, or restart Forky to begin a new one.",
            )
        if found != self._identity:
            raise StoreError(
                f"{self.path} was replaced by another file{NOTHING_SAVED}",
                "Restart Forky to open that one.",
            )

    def size(self) -> int:
        """Bytes on disk, including the log."""
        return _size(self.path) + _size(log_of(self.path))

    @contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor for one call on one thread; do not nest. DuckDB's errors are raised as StoreErrors."""
        self._enter()
        try:
            cursor = self._root.cursor()
            try:
                yield cursor
            finally:
                cursor.close()
        except duckdb.Error as error:
            self._broken = self._broken or is_invalid(error)
            raise self._failure(error) from error
        finally:
            with self._gate:
                self._inside -= 1
                self._gate.notify_all()

    def _failure(self, error: duckdb.Error) -> StoreError:
        failure = store_error(error, self.path)
        if isinstance(failure, StoreDamaged):
            self._damaged = True
            return damaged_part(self.path) if self.ready else failure
        return failure

    def _enter(self) -> None:
        if self._broken:
            self.reattach()
        with self._gate:
            self._gate.wait_for(lambda: not self._alone)
            if self._closed:
                raise StoreError(f"{self.path.name} is closed.")
            self._inside += 1

    def rows(self, statement: str, /, **given: Any) -> list[tuple[Any, ...]]:
        """The rows of a statement, as tuples in the order of its columns: for statements of a few columns."""
        with self.cursor() as cursor:
            return execute(cursor, statement, **given).fetchall()

    def fetch(self, statement: str, /, **given: Any) -> list[Row]:
        """The rows of a statement, by the names of their columns."""
        with self.cursor() as cursor:
            return fetch(cursor, statement, **given)

    @contextmanager
    def snapshot(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor whose reads all see the same snapshot."""
        with self.cursor() as cursor:
            cursor.execute("BEGIN TRANSACTION")
            yield cursor  # If the caller raises, closing the cursor ends the transaction.
            cursor.execute("COMMIT")

    def at_once(self, work: Callable[[FileSession], T]) -> T:
        """The result of work whose reads all see the same snapshot."""
        with self.snapshot() as cursor:
            return work(FileSession(cursor))

    def reattach(self, *, patience: float = 5.0) -> bool:
        """Checkpoint, detach and attach again; False if someone was still reading after `patience` seconds."""
        if self._damaged or not self._lock_out(patience):
            return False
        with self._locked_out():
            self.still_there()
            self._detach()
            self._attach()
            self._broken = False
            self._identity = _identity(self.path)
        return True

    def write_anew(self, *, patience: float = 5.0) -> bool:
        """Put a copy in the place of the file that has its rows only, and nothing of deleted ones in unused blocks.

        False if someone was still reading after `patience` seconds.

        Raises:
            StoreFull: there is no room for the copy; the file is as it was.
        """
        if self._damaged or not self._lock_out(patience):
            return False
        with self._locked_out():
            self.still_there()
            folder = None
            try:
                self._root.execute("CHECKPOINT forky")
                folder = Path(mkdtemp(prefix=".forky-", dir=self.path.parent))
                made = folder / self.path.name
                quoted = str(made).replace("'", "''")
                self._root.execute(
                    f"ATTACH '{quoted}' AS fresh (BLOCK_SIZE {BLOCK_SIZE}, ROW_GROUP_SIZE {ROW_GROUP_SIZE})"
                )
                try:
                    self._root.execute("COPY FROM DATABASE forky TO fresh")
                    self._root.execute("CHECKPOINT fresh")
                finally:
                    self._root.execute("DETACH DATABASE fresh")
                shutil.copymode(self.path, made)
                self._detach()
                try:
                    made.replace(self.path)
                finally:
                    self._attach()
                    self._identity = _identity(self.path)
            except OSError as error:
                raise file_error(error, self.path) from error
            finally:
                if folder is not None:
                    shutil.rmtree(folder, ignore_errors=True)
        return True

    @contextmanager
    def detached(self) -> Iterator[None]:
        """Fold in the log and detach the file, so that it can be copied."""
        if self._damaged:
            raise StoreDamaged(
                f"{self.path.name} is damaged; nothing was copied.", "Restore a backup of the file."
            )
        if not self._lock_out(30.0):
            raise StoreError(f"{self.path.name} is being read.", "Try again in a moment.")
        with self._locked_out():
            self.still_there()
            self._detach()
            try:
                yield
            finally:
                self._attach()

    def _lock_out(self, patience: float) -> bool:
        with self._gate:
            free = self._gate.wait_for(lambda: not self._alone and not self._inside, patience)
            if not free or self._closed:
                return False  # Whoever is alone with the file stays so.
            self._alone = True
            return True

    @contextmanager
    def _locked_out(self) -> Iterator[None]:
        try:
            yield
        except duckdb.Error as error:
            self._broken = True
            raise self._failure(error) from error
        finally:
            with self._gate:
                self._alone = False
                self._gate.notify_all()

    def _detach(self) -> None:
        """Checkpoint and detach. If the checkpoint fails, the file must be attached again: its log still holds
        everything.
        """
        if not self._broken:
            try:
                self._root.execute("CHECKPOINT forky")
            except duckdb.Error as error:
                if not is_invalid(error):
                    raise
        self._root.execute("DETACH DATABASE IF EXISTS forky")

    def abandon(self) -> None:
        """Close the file without folding in its log."""
        self._closed = True
        self._root.execute("PRAGMA disable_checkpoint_on_shutdown")
        self._let_go()

    def _let_go(self) -> None:
        self._root.close()
        log = log_of(self.path)
        with suppress(OSError):
            if _identity(self.path) == self._identity and not log.lstat().st_size:
                log.unlink()  # It was created for a write that never happened.
        _remove_folder(self._spill)

    def close(self) -> None:
        """Wait for calls in flight, fold in the log and close the file. What cannot be folded in stays in the log."""
        with self._gate:
            if self._closed:
                return
            self._closed = True
            self._gate.wait_for(lambda: not self._inside and not self._alone, 30)
        try:
            if self._damaged or _identity(self.path) != self._identity:
                # A checkpoint would also remove the log, which may by now belong to another file.
                self._root.execute("PRAGMA disable_checkpoint_on_shutdown")
            elif not self._broken:
                self._root.execute("CHECKPOINT forky")
        except duckdb.Error:
            pass
        self._let_go()


def in_transaction(cursor: duckdb.DuckDBPyConnection, work: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
    """Run `work` in a transaction and return its result once it is durable; if it raises, nothing is changed."""
    cursor.execute("BEGIN TRANSACTION")
    try:
        result = work(cursor)
        cursor.execute("COMMIT")
    except BaseException:
        try:
            cursor.execute("ROLLBACK")
        except duckdb.Error:
            """A commit that failed has ended the transaction already."""
        raise
    return result


def _bytes_cut_off(path: Path) -> int:
    """Bytes of an incomplete commit at the end of the log; see `LogState`.

    Raises StoreDamaged if DuckDB would ignore whole commits.
    """
    log = log_of(path)
    try:
        state = log_state(log)
    except OSError as error:
        raise StoreFull(
            f"Forky cannot read {log}: {error.strerror or error}.",
            "Make the file and its folder writable, or use another file.",
        ) from error
    if state.passed_over_from is not None:
        raise damaged_log(path)
    return state.cut_off


def _private_folder(folder: Path) -> bool:
    """Create the folder that DuckDB spills into, readable only by its owner; whether it was created now.

    DuckDB would make it readable for everybody. A folder that a crash left behind is reused. Raises StoreError if a
    file, or somebody else's folder, has its name.
    """
    if not POSIX:
        return False
    try:
        folder.mkdir(FOLDER)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            raise StoreError(
                f"{folder} is in the way: Forky needs a folder of this name, for itself alone.",
                "Move it away, or use another file.",
            ) from None
        tighten(folder)
    except OSError:
        return False  # Opening the file fails for the same reason, and reports it.
    else:
        return True
    return False


def _remove_folder(folder: Path) -> None:
    """Remove a folder if it is empty."""
    with suppress(OSError):
        folder.rmdir()


def _files_of(path: Path) -> Iterator[Path]:
    """The database, files that DuckDB may have left beside it, and Forky's copies of it."""
    yield path
    for ending in (".wal", ".wal.checkpoint", ".wal.recovery", ".tmp"):
        yield path.with_name(f"{path.name}{ending}")
    yield from copies_of(path)


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of the file at this path; None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def place_of(path: str | Path) -> Path:
    """The absolute path. Raises StoreError if it cannot be a file name, or if it is somebody else's link."""
    try:
        named = Path(path).expanduser()
        refuse_planted(named)
        refuse_planted(log_of(named))
        place = named.resolve()
        place.exists()
        log_of(place).exists()
        str(place).encode()
    except (OSError, ValueError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else "that is no name of a file"
        raise StoreError(f"There can be no database at {path}: {why}.", "Give another path.") from error
    return place
