"""The one thread that writes: it drains a queue into groups, each durable as one transaction (group commit).

One writer makes races a matter of order in a queue, and sixty-four callers share one fsync. Each gets its own result: a
commit that loses its race, or that the database refuses, fails alone; the rest of its group is written.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any

import duckdb

from forky_core.model import ConversationId, Generation, Operation
from forky_core.model.errors import StoreError
from forky_core.process import events
from forky_core.store.contract import Commit
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.cache.fully_packed import FullyPacked
from forky_core.store.duckdb.file.database import DatabaseFile, in_transaction
from forky_core.store.duckdb.read.packs import packs_due, write_packs
from forky_core.store.duckdb.running import execute
from forky_core.store.duckdb.write.staging import Ledgers, Staged, stage_commit, stage_parts, stage_record
from forky_core.store.moving.contract import ConversationPart

GROUP = 256
"""Most operations in one transaction."""
IDLE_SECONDS = 2.0
"""Seconds without work after which the log is folded into the file and the file is attached again."""
_UNDER_WAY = 30
"""Factor on IDLE_SECONDS after a group of an import: a busy machine may read for seconds before it has
the next group.
"""
_CROWD = 8
"""Jobs in a group after which its callers will probably ask again soon: the next group waits for them."""
_STEP = 0.0004
_STEPS = 5
"""The most seconds it waits, and only while more jobs come: a transaction costs 4 ms and 0.03 ms a commit, so two half
groups cost nearly twice one whole one.
"""
_PATIENCE = 5.0
"""Seconds to wait for readers if somebody requested the idle work."""
_LONGEST_PUBLICATION = 5.0
"""Seconds to wait at most for a group to be published."""
_HANGS = 10.0
"""Seconds on one task after which the thread is considered hung; the slowest group ever measured took 0.5."""
ERASED_BYTES = "erased_bytes"
"""The setting that says that the file must be written anew after an erasure, also if Forky ended before it was."""
_BULK = 8
"""Groups of an import, some megabytes each, between two evictions of the database's memory."""


@dataclass(frozen=True, slots=True)
class Record:
    conversation: ConversationId
    generation: Generation


@dataclass(frozen=True, slots=True)
class Adopt:
    """Parts of conversations of another store."""

    parts: Sequence[ConversationPart]


@dataclass(frozen=True, slots=True)
class Alone:
    """Work that gets a transaction of its own: a blob, a setting, a purge."""

    work: Callable[[duckdb.DuckDBPyConnection], Any]
    forgets: Sequence[ConversationId] = ()
    """The conversations of which nothing that is cached holds afterwards. The work may add to it."""


@dataclass(frozen=True, slots=True)
class Rest:
    """A request to do the work of idle time now, to its end."""


@dataclass(frozen=True, slots=True)
class Ping:
    """A request that only checks whether the thread responds; nothing is written."""


Request = Commit | Record | Adopt | Alone | Rest | Ping
Done = tuple[Request, Any]
"""A request that is durable, and its result."""


class _Job:
    """A request and, once it is settled, its outcome. A lock costs a tenth of what a Future costs to make and wake."""

    __slots__ = ("_error", "_result", "_settled", "asked", "request")

    def __init__(self, request: Request) -> None:
        self.request = request
        self.asked = time.perf_counter()
        self._settled = Lock()
        self._settled.acquire()
        self._result: Any = None
        self._error: BaseException | None = None

    def succeed(self, result: Any) -> None:
        self._result = result
        self._settled.release()

    def fail(self, error: BaseException) -> None:
        self._error = error
        self._settled.release()

    def is_settled(self, patience: float) -> bool:
        """Whether the job settles within so many seconds; for a job that nobody else waits for."""
        settled = self._settled.acquire(timeout=patience)
        if settled:
            self._settled.release()
        return settled

    def wait(self) -> Any:
        """Wait for the result, or raise the job's error; only the thread that submitted it may call this."""
        self._settled.acquire()
        if self._error is not None:
            raise self._error
        return self._result


class Writer:
    def __init__(
        self,
        file: DatabaseFile,
        publish: Callable[[Staged, Sequence[Done]], None],
        forget: Callable[[ConversationId], None],
        *,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        """`publish` is called with what has just become durable, before its callers get their results."""
        self._idle_seconds = idle_seconds
        self._last_group = 0
        self._file = file
        self._publish = publish
        self._forget = forget
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._ledgers = Ledgers(file)
        self.whole = FullyPacked()
        self._closing = Lock()
        self._unpublished = Lock()
        """Held from before a group becomes durable until it is published to readers."""
        self._closed = False
        self.has_erased = _is_marked(file)
        """Whether unused blocks of the file may hold text that was erased."""
        self._dirty = self.has_erased
        self._in_bulk = 0
        """Groups of an import since memory was last released."""
        self._importing = False
        """Whether the last group belonged to an import."""
        self._busy_since: float | None = None
        """When the thread began its current task; None while it waits for work."""
        self._ping: _Job | None = None
        """The last ping."""
        self._could_rest = True
        self._thread = Thread(target=self._run, name="forky-writer", daemon=True)
        self._thread.start()

    def commit(self, commit: Commit) -> Operation:
        operation: Operation = self.ask(commit)
        return operation

    def ask(self, request: Request) -> Any:
        """Submit a request and wait; the result once it is durable, or the request's error."""
        return self.ask_all((request,))[0]

    def tell(self, request: Request) -> None:
        """Submit a request without waiting for it or its errors."""
        with self._closing:
            if not self._closed:
                self._queue.put(_Job(request))

    def ask_all(self, requests: Sequence[Request]) -> list[Any]:
        """Submit requests and wait; the results once all are durable, or the first error once all have finished.

        The requests after a failed one are attempted all the same.
        """
        jobs = [_Job(request) for request in requests]
        with self._closing:
            if self._closed:
                raise StoreError(f"{self._file.path.name} is closed.")
            for job in jobs:
                self._queue.put(job)
        results: list[Any] = []
        failed: Exception | None = None
        for job in jobs:
            try:
                results.append(job.wait())
            except Exception as error:  # noqa: BLE001 - the first of them is raised below
                failed = failed or error
        if failed is not None:
            raise failed
        return results

    def wait_for_publication(self) -> None:
        """Return once everything that is durable at this moment is published, too.

        A reader of rows may have seen a group that is not in the store's caches yet. If the disk hangs, nobody waits
        for longer than `_LONGEST_PUBLICATION`.
        """
        if self._unpublished.acquire(timeout=_LONGEST_PUBLICATION):
            self._unpublished.release()

    def waiting(self) -> int:
        """Requests in the queue."""
        return self._queue.qsize()

    def busy(self) -> float:
        """Seconds that the thread has spent on its current task; 0.0 if it is idle."""
        since = self._busy_since
        return time.perf_counter() - since if since is not None else 0.0

    def answers(self, patience: float) -> bool:
        """Whether the thread responds to a ping within so many seconds; there is one ping at a time."""
        with self._closing:
            if self._closed:
                return False
            if self._ping is None or self._ping.is_settled(0.0):
                self._ping = _Job(Ping())
                self._queue.put(self._ping)
            asked = self._ping
        return asked.is_settled(patience)

    def works(self) -> bool:
        """Whether the thread is alive and has not been on one task for so long that it must hang."""
        return self._thread.is_alive() and self.busy() < _HANGS

    def close(self) -> None:
        """Finish what is queued, then stop."""
        with self._closing:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        open_for_more = True
        while open_for_more:
            try:
                first = self._queue.get(timeout=self._until_idle() if self._dirty else None)
            except Empty:
                self._busy_since = time.perf_counter()
                self._rest()
                self._busy_since = None
                continue
            self._busy_since = time.perf_counter()
            jobs, open_for_more = self._group(first)
            for group in _split(jobs):
                self._busy_since = time.perf_counter()
                self._serve(group)
            self._ledgers.trim()
            self._busy_since = None

    def _until_idle(self) -> float:
        return self._idle_seconds * (_UNDER_WAY if self._importing else 1)

    def _group(self, first: _Job | None) -> tuple[list[_Job], bool]:
        """The jobs of the next transaction, and whether more may follow."""
        jobs: list[_Job] = []
        job = first
        steps = _STEPS if self._last_group >= _CROWD else 0
        while job is not None:
            jobs.append(job)
            if len(jobs) == GROUP:
                break
            try:
                job = self._queue.get_nowait()
            except Empty:
                if not steps:
                    break
                steps -= 1
                time.sleep(_STEP)
                try:
                    job = self._queue.get_nowait()
                except Empty:
                    break
        self._last_group = len(jobs)
        return jobs, job is not None

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

    def _serve(self, jobs: Sequence[_Job]) -> None:
        """Write the jobs in one transaction; if that fails, each in one of its own."""
        try:
            match jobs[0].request:
                case Rest():
                    rested = self._tidy(lambda: False, _PATIENCE)
                    self._dirty = not rested
                    settled: Sequence[tuple[_Job, Any]] = [(jobs[0], rested)]
                case Ping():
                    settled = [(jobs[0], None)]
                case _:
                    self._dirty = True
                    begun = time.perf_counter()
                    settled = self._attempt(jobs)
                    _log(settled, begun)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the caller's to hear
            if len(jobs) == 1:
                events.store_failed(work=type(jobs[0].request).__name__.lower(), fault=error)
                jobs[0].fail(error)
            else:
                for job in jobs:
                    self._serve([job])
            return
        for job, outcome in settled:
            if isinstance(outcome, Exception):
                job.fail(outcome)
            else:
                job.succeed(outcome)

    def _attempt(self, jobs: Sequence[_Job]) -> list[tuple[_Job, Any]]:
        staged = Staged()
        settled: list[tuple[_Job, Any]] = []
        self._file.before_writing()
        try:
            with self._file.cursor() as cursor:
                settled.extend((job, self._stage(cursor, staged, job.request)) for job in jobs)
                with self._unpublished:
                    if staged.touched:
                        self._file.refuse_damaged()  # Reading the state that the group builds on may have revealed it.
                        for ledger in staged.touched.values():
                            self.whole.discard(ledger.conversation)
                        staged.batch.write(cursor)
                    done = [
                        (job.request, result) for job, result in settled if not isinstance(result, Exception)
                    ]
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
        return settled

    def _spare_memory(self, staged: Staged) -> None:
        """Release memory after every few groups that nobody is about to read."""
        self._importing = bool(staged.in_bulk)
        self._in_bulk += self._importing
        if self._in_bulk >= _BULK:
            self._in_bulk = 0
            self._file.let_go_of_blocks()

    def _stage(self, cursor: duckdb.DuckDBPyConnection, staged: Staged, request: Request) -> Any:
        """The request's result, or the error that concerns this request alone."""
        try:
            match request:
                case Commit():
                    return stage_commit(self._ledgers, staged, cursor, request)
                case Record():
                    return stage_record(
                        self._ledgers, staged, cursor, request.conversation, request.generation
                    )
                case Adopt():
                    return stage_parts(self._ledgers, staged, cursor, request.parts)
                case Alone():
                    return in_transaction(cursor, request.work)
        except duckdb.Error:
            raise
        except Exception as error:  # noqa: BLE001 - as above
            return error


def _is_marked(file: DatabaseFile) -> bool:
    """Whether something was erased since the file was last written anew. One that cannot be read is not written."""
    try:
        return bool(file.rows(sql.SETTING, key=ERASED_BYTES))
    except StoreError:
        return False


def _log(settled: Sequence[tuple[_Job, Any]], begun: float) -> None:
    """Log a transaction that began at `begun` and is durable."""
    kinds = [type(job.request) for job, result in settled if not isinstance(result, Exception)]
    if kinds:
        now = time.perf_counter()
        events.store_committed(
            operations=kinds.count(Commit),
            records=kinds.count(Record),
            others=kinds.count(Alone),
            seconds=now - begun,
            waited=now - min(job.asked for job, _ in settled),
        )


def _split(jobs: Sequence[_Job]) -> list[list[_Job]]:
    """Split jobs into runs that can share a transaction, in order."""
    groups: list[list[_Job]] = []
    for job in jobs:
        alone = isinstance(job.request, Alone | Rest | Ping)
        if alone or not groups or isinstance(groups[-1][-1].request, Alone | Rest | Ping):
            groups.append([job])
        else:
            groups[-1].append(job)
    return groups
