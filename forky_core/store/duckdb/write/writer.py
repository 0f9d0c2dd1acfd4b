"""The thread that writes to the file. When nobody asks for anything it folds the log into the file, packs scattered
messages, and writes the file anew after an erasure.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import duckdb

from forky_core.model import ConversationId
from forky_core.model.errors import StoreError
from forky_core.process import events
from forky_core.store.base.writer import Adopt, Alone, GroupWriter, Job, Ping, Record, Request, Rest
from forky_core.store.contract import Commit
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.cache.fully_packed import FullyPacked
from forky_core.store.duckdb.file.database import DatabaseFile, in_transaction
from forky_core.store.duckdb.read.packs import packs_due, write_packs
from forky_core.store.duckdb.running import FileSession, execute
from forky_core.store.duckdb.write.staging import FileGroup, FileLedgers

IDLE_SECONDS = 2.0
"""Seconds without work after which the log is folded into the file and the file is attached again."""
_UNDER_WAY = 30
"""Factor on IDLE_SECONDS after a group of an import: a busy machine may read for seconds before it has
the next group.
"""
_PATIENCE = 5.0
"""Seconds to wait for readers if somebody requested the idle work."""
_LONGEST_PUBLICATION = 5.0
"""Seconds to wait at most for a group to be published."""
ERASED_BYTES = "erased_bytes"
"""The setting that says that the file must be written anew after an erasure, also if Forky ended before it was."""
_BULK = 8
"""Groups of an import, some megabytes each, between two evictions of the database's memory."""

Done = tuple[Request, Any]
"""A request that is durable, and its result."""


class FileWriter(GroupWriter):
    steps = 5
    """A transaction costs 4 ms and 0.03 ms a commit, so two half groups cost nearly twice one whole one."""

    def __init__(
        self,
        file: DatabaseFile,
        publish: Callable[[FileGroup, Sequence[Done]], None],
        forget: Callable[[ConversationId], None],
        *,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        """`publish` is called with what has just become durable, before its callers get their results."""
        super().__init__(file.path.name)
        self._idle_seconds = idle_seconds
        self._file = file
        self._publish = publish
        self._forget = forget
        self._ledgers = FileLedgers(file)
        self.whole = FullyPacked()
        self._unpublished = Lock()
        """Held from before a group becomes durable until it is published to readers."""
        self.has_erased = _is_marked(file)
        """Whether unused blocks of the file may hold text that was erased."""
        self._dirty = self.has_erased
        self._in_bulk = 0
        """Groups of an import since memory was last released."""
        self._importing = False
        """Whether the last group belonged to an import."""
        self._could_rest = True
        self._thread.start()

    def wait_for_publication(self) -> None:
        """Return once everything that is durable at this moment is published, too.

        A reader of rows may have seen a group that is not in the store's caches yet. If the disk hangs, nobody waits
        for longer than `_LONGEST_PUBLICATION`.
        """
        if self._unpublished.acquire(timeout=_LONGEST_PUBLICATION):
            self._unpublished.release()

    def _until_idle(self) -> float | None:
        if not self._dirty:
            return None
        return self._idle_seconds * (_UNDER_WAY if self._importing else 1)

    def _trim(self) -> None:
        self._ledgers.trim()

    def _rest(self) -> None:
        """Do idle work until a request arrives. A reader in flight, or a full disk, only postpones it."""
        try:
            self._dirty = not self._tidy(lambda: not self._queue.empty(), patience=0.0)
            self._could_rest = True
        except StoreError as error:
            if self._could_rest:  # It is retried every few seconds.
                events.store_failed(work="rest", fault=error)
            self._could_rest = False
            time.sleep(0.1)

    def _tidy(self, busy: Callable[[], bool], patience: float) -> bool:
        """Fold the log into the file and pack scattered messages; whether both are done."""
        if not self._file.reattach(patience=patience):
            return False
        if self.has_erased and not self._written_anew(patience):
            return False
        with self._file.cursor() as cursor:
            self.whole.learn(cursor)
        due = packs_due(self._file)
        if not due:
            return True
        if not write_packs(self._file, due, busy, self.whole):
            return False
        return self._file.reattach(patience=patience)

    def _written_anew(self, patience: float) -> bool:
        """Write the file anew, so that none of its unused blocks holds what was erased; whether that is done."""
        if not self._file.write_anew(patience=patience):
            return False
        with self._file.cursor() as cursor:
            in_transaction(cursor, lambda cursor: execute(cursor, sql.DROP_SETTING, key=ERASED_BYTES))
        self.has_erased = False
        return self._file.reattach(patience=patience)

    def _attempt(self, jobs: Sequence[Job]) -> list[Any]:
        match jobs[0].request:
            case Rest():
                rested = self._tidy(lambda: False, _PATIENCE)
                self._dirty = not rested
                return [rested]
            case Ping():
                return [None]
        self._dirty = True
        outcomes: list[Any] = []
        self._file.before_writing()
        with self._file.cursor() as cursor:
            staged = FileGroup(self._ledgers, cursor)
            try:
                outcomes.extend(self._stage(cursor, staged, job.request) for job in jobs)
                with self._unpublished:
                    if staged.touched:
                        self._file.refuse_damaged()  # Reading the state that the group builds on may have revealed it.
                        for ledger in staged.touched.values():
                            self.whole.discard(ledger.conversation)
                        staged.batch.write(cursor)
                    pairs = zip(jobs, outcomes, strict=True)
                    done = [(job.request, one) for job, one in pairs if not isinstance(one, Exception)]
                    self._publish(staged, done)
            except BaseException:
                self._ledgers.drop(staged.touched)
                raise
        self._ledgers.drop(staged.in_bulk - {staged.continues})
        self._spare_memory(staged)
        for request, _ in done:
            for id in request.forgets if isinstance(request, Alone) else ():
                self._ledgers.drop([id])
                self._forget(id)
        return outcomes

    def _spare_memory(self, staged: FileGroup) -> None:
        """Release memory after every few groups that nobody is about to read."""
        self._importing = bool(staged.in_bulk)
        self._in_bulk += self._importing
        if self._in_bulk >= _BULK:
            self._in_bulk = 0
            self._file.let_go_of_blocks()

    def _stage(self, cursor: duckdb.DuckDBPyConnection, staged: FileGroup, request: Request) -> Any:
        """The request's result, or the error that concerns this request alone."""
        try:
            match request:
                case Commit():
                    return staged.decide(request)
                case Record():
                    return staged.record(request.conversation, request.generation)
                case Adopt():
                    staged.decide_parts(request.parts)
                    staged.continues = request.parts[-1].conversation if request.parts else None
                case Alone():
                    return in_transaction(cursor, lambda cursor: request.work(FileSession(cursor)))
        except duckdb.Error:
            raise
        except Exception as error:  # noqa: BLE001 - it is the caller's to hear
            return error


def _is_marked(file: DatabaseFile) -> bool:
    """Whether something was erased since the file was last written anew. One that cannot be read is not written."""
    try:
        return bool(file.rows(sql.SETTING, key=ERASED_BYTES))
    except StoreError:
        return False
