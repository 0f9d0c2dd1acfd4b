"""One open database file: a cursor for each call, and the moments when nobody may have one.

A DuckDB connection shared between threads hands one thread another's rows, so every call takes a cursor of its own
and drains it at once. Re-attaching the file makes rows this process wrote as quick to scan as any; it needs a moment
without cursors, which the gate gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition
from typing import Any, TypeVar

import duckdb

from forky_core.errors import NOTHING_SAVED, StoreDamaged, StoreError, StoreFull
from forky_core.store.file.trouble import damaged_log, is_invalid, store_error
from forky_core.store.file.wal import log_of, passed_over_from
from forky_core.store.sql.running import execute
from forky_core.store.sql.statement import Statement

T = TypeVar("T")
BLOCK_SIZE = 65536
"""A quarter of DuckDB's own: a small database takes 0.3 MB instead of 1.1 MB, at no cost."""
ROW_GROUP_SIZE = 4096
"""Rows that are compressed together, a thirtieth of DuckDB's own: a checkpoint joins what was appended since into whole
groups, several of them in memory at once. With DuckDB's own an import held 500 MB more and everybody for seconds."""
CHECKPOINT_THRESHOLD = "32MB"
"""A checkpoint stalls everyone, so it should come when idle and only rarely under load; until then what was written
is also in memory."""
_IN_BULK = ("SET checkpoint_threshold = '16MB'", "SET max_vacuum_tasks = 0")
"""While an import is written, until the file rests. What was written since the last checkpoint is in memory; one that
joined groups of rows that are not full would hold those besides, decompressed. The checkpoints after the rest do so."""
_CACHED_IN_BULK = 8_000_000
"""Bytes of the file that stay in memory while an import is written."""
_IN_USE = "SELECT coalesce(sum(memory_usage_bytes), 0) FROM duckdb_memory() WHERE tag <> 'BASE_TABLE'"


class DatabaseFile:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._gate = Condition()
        self._inside = 0
        self._alone = False
        self._broken = False
        self._damaged = False
        """Something in it cannot be read: from then on nothing is folded in, so that what is there stays as it is."""
        self._closed = False
        _refuse_damaged_log(path)
        self._root = duckdb.connect(
            ":memory:",
            config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"},
        )
        try:
            self._root.execute(
                "SET temp_directory = $1", [f"{path}.tmp"]
            )  # Else it would be made where Forky was started.
            self._attach()
            self._identity = _identity(path)
        except duckdb.Error as error:
            self._root.close()
            raise store_error(error, path) from error

    def _attach(self) -> None:
        quoted = str(self.path).replace("'", "''")
        new = "" if self.path.exists() else f"BLOCK_SIZE {BLOCK_SIZE}, "
        self._root.execute(f"SET checkpoint_threshold = '{CHECKPOINT_THRESHOLD}'")
        self._root.execute("RESET max_vacuum_tasks")
        self._root.execute(f"ATTACH '{quoted}' AS forky ({new}ROW_GROUP_SIZE {ROW_GROUP_SIZE})")

    def let_go_of_blocks(self) -> None:
        """Keep little of the file in memory beside what was written since the last checkpoint: DuckDB would keep all
        it has read or written, up to most of the machine's memory.
        """
        if not self._lock_out(0.0):
            return  # A query of that moment could find itself without memory.
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

    def still_there(self) -> None:
        """StoreError where the file was moved, removed or replaced: what is written then would go nowhere."""
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
        """Bytes on disk, with the log beside it."""
        return _size(self.path) + _size(log_of(self.path))

    @contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor for one call on one thread; not to be nested. DuckDB's errors leave as StoreErrors."""
        self._enter()
        try:
            cursor = self._root.cursor()
            try:
                yield cursor
            finally:
                cursor.close()
        except duckdb.Error as error:
            self._broken = self._broken or is_invalid(error)
            failure = store_error(error, self.path)
            self._damaged = self._damaged or isinstance(failure, StoreDamaged)
            raise failure from error
        finally:
            with self._gate:
                self._inside -= 1
                self._gate.notify_all()

    def _enter(self) -> None:
        if self._broken:
            self.reattach()
        with self._gate:
            self._gate.wait_for(lambda: not self._alone)
            if self._closed:
                raise StoreError(f"{self.path.name} is closed.")
            self._inside += 1

    def rows(self, statement: Statement, **given: Any) -> list[tuple[Any, ...]]:
        with self.cursor() as cursor:
            return execute(cursor, statement, **given).fetchall()

    @contextmanager
    def snapshot(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor whose reads all see one moment."""
        with self.cursor() as cursor:
            cursor.execute("BEGIN TRANSACTION")
            try:
                yield cursor
            finally:
                cursor.execute("COMMIT")

    def reattach(self, *, patience: float = 5.0) -> bool:
        """Checkpoint, detach and attach again; False where someone was still reading after `patience` seconds."""
        if self._damaged or not self._lock_out(patience):
            return False
        with self._locked_out():
            self.still_there()
            self._detach()
            self._attach()
            self._broken = False
            self._identity = _identity(self.path)
        return True

    @contextmanager
    def detached(self) -> Iterator[None]:
        """The file let go of, with its log folded in, so that it can be copied."""
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
            self._alone = free and not self._closed
            return self._alone

    @contextmanager
    def _locked_out(self) -> Iterator[None]:
        try:
            yield
        except duckdb.Error as error:
            self._broken = True
            raise store_error(error, self.path) from error
        finally:
            with self._gate:
                self._alone = False
                self._gate.notify_all()

    def _detach(self) -> None:
        """Where the checkpoint fails, DuckDB wants the file attached anew: its log still holds everything."""
        if not self._broken:
            try:
                self._root.execute("CHECKPOINT forky")
            except duckdb.Error as error:
                if not is_invalid(error):
                    raise
        self._root.execute("DETACH DATABASE IF EXISTS forky")

    def abandon(self) -> None:
        """Let go of the file without folding in its log."""
        self._closed = True
        self._root.execute("PRAGMA disable_checkpoint_on_shutdown")
        self._root.close()

    def close(self) -> None:
        """Wait for calls in flight, fold in the log and let go of the file; what cannot be folded in stays there."""
        with self._gate:
            if self._closed:
                return
            self._closed = True
            self._gate.wait_for(lambda: not self._inside and not self._alone, 30)
        try:
            if self._damaged or _identity(self.path) != self._identity:
                # A checkpoint would also remove the log that by now lies beside another file.
                self._root.execute("PRAGMA disable_checkpoint_on_shutdown")
            elif not self._broken:
                self._root.execute("CHECKPOINT forky")
        except duckdb.Error:
            pass
        self._root.close()


def in_transaction(cursor: duckdb.DuckDBPyConnection, work: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
    """What `work` returns, its changes durable; where it raises, none of them are."""
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


def _refuse_damaged_log(path: Path) -> None:
    log = log_of(path)
    try:
        damaged = passed_over_from(log) is not None
    except OSError as error:
        raise StoreFull(
            f"Forky cannot read {log}: {error.strerror or error}.",
            "Make the file and its folder writable, or use another file.",
        ) from error
    if damaged:
        raise damaged_log(path)


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file stands there; None where none does."""
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
    """Where that is. StoreError where no file can have the name."""
    try:
        place = Path(path).expanduser().resolve()
        place.exists()
        log_of(place).exists()
        str(place).encode()
    except (OSError, ValueError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else "that is no name of a file"
        raise StoreError(f"There can be no database at {path}: {why}.", "Give another path.") from error
    return place
