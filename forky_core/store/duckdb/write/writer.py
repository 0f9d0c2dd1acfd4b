"""The one thread that writes: it drains a queue into groups, each durable as one transaction (group commit).

One writer makes races a matter of order in a queue, and sixty-four callers share one fsync. Each gets its own result:
a commit that loses its race, or that the database refuses, fails alone; the rest of its group is written.
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
from forky_core.observability import events
from forky_core.store.contract import Commit
from forky_core.store.duckdb.cache.whole import Whole
from forky_core.store.duckdb.file.database import DatabaseFile, in_transaction
from forky_core.store.duckdb.read.packs import packs_due, write_packs
from forky_core.store.duckdb.write.staging import Ledgers, Staged, stage_commit, stage_record

GROUP = 256
"""Most operations in one transaction."""
IDLE_SECONDS = 2.0
"""Without work for so long, the log is folded into the file and the file attached anew."""
_UNDER_WAY = 30
"""Times as long after a group of an import: a busy machine may read for seconds before it has the next one."""
_CROWD = 8
"""After a group of so many, its callers are probably about to ask again: the next group waits for them."""
_STEP = 0.0004
_STEPS = 5
"""The most it waits, and only while more come: a transaction costs 4 ms and 0.03 ms a commit, so two half groups
cost nearly twice one whole one."""
_PATIENCE = 5.0
"""Seconds to wait for readers where somebody asked for the rest."""
_LONGEST_PUBLICATION = 5.0
"""Seconds."""
_HANGS = 10.0
"""Seconds at one thing after which the thread is taken to hang; the slowest group that was measured took 0.5."""
_BULK = 8
"""Groups of an import, some megabytes each, between two moments at which the database's memory is looked after."""


@dataclass(frozen=True, slots=True)
class Record:
    conversation: ConversationId
    generation: Generation


@dataclass(frozen=True, slots=True)
class Alone:
    """Work that has a transaction to itself: a blob, a setting, a purge."""

    work: Callable[[duckdb.DuckDBPyConnection], Any]
    forgets: ConversationId | None = None
    """The conversation that is gone afterwards."""


@dataclass(frozen=True, slots=True)
class Rest:
    """What is done when nobody writes for a while, now and to its end."""


@dataclass(frozen=True, slots=True)
class Ping:
    """A question whether the thread is at work; nothing is written."""


Request = Commit | Record | Alone | Rest | Ping
Done = tuple[Request, Any]
"""A request that is durable, and its result."""


class _Job:
    """A request and, once it is settled, its outcome. One lock is a tenth of what a Future costs to make and wake."""

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
        """Within so many seconds; for a job that nobody waits for otherwise."""
        settled = self._settled.acquire(timeout=patience)
        if settled:
            self._settled.release()
        return settled

    def wait(self) -> Any:
        """The result, or the error raised; for the one thread that asked."""
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
        """`publish` is called with what has just become durable, before its callers hear of it."""
        self._idle_seconds = idle_seconds
        self._last_group = 0
        self._file = file
        self._publish = publish
        self._forget = forget
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._ledgers = Ledgers(file)
        self.whole = Whole()
        self._closing = Lock()
        self._unpublished = Lock()
        """Held from before a group becomes durable until readers are told of it."""
        self._closed = False
        self._dirty = False
        self._in_bulk = 0
        """Groups of an import since memory was let go of."""
        self._importing = False
        """Whether the last group was one."""
        self._busy_since: float | None = None
        """When the thread took up what it does now; None: it waits for work."""
        self._ping: _Job | None = None
        """The last question whether it is at work."""
        self._could_rest = True
        self._thread = Thread(target=self._run, name="forky-writer", daemon=True)
        self._thread.start()

    def commit(self, commit: Commit) -> Operation:
        operation: Operation = self.ask(commit)
        return operation

    def ask(self, request: Request) -> Any:
        """The request's result once it is durable, or its error."""
        return self.ask_all((request,))[0]

    def tell(self, request: Request) -> None:
        """Have it done, or not, without waiting for it."""
        with self._closing:
            if not self._closed:
                self._queue.put(_Job(request))

    def ask_all(self, requests: Sequence[Request]) -> list[Any]:
        """The results once all are durable, or the first error once none of them is under way any more.

        The ones behind an error are attempted all the same.
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

        Whoever has read rows from the file may have seen a group of which the caches of the store know nothing yet. A
        disk that hangs holds nobody up for longer than `_LONGEST_PUBLICATION`.
        """
        if self._unpublished.acquire(timeout=_LONGEST_PUBLICATION):
            self._unpublished.release()

    def waiting(self) -> int:
        """Requests in the queue."""
        return self._queue.qsize()

    def busy(self) -> float:
        """Seconds that the thread has been at what it does now; 0.0: it is free."""
        since = self._busy_since
        return time.perf_counter() - since if since is not None else 0.0

    def answers(self, patience: float) -> bool:
        """Whether the thread takes up what it is asked, within so many seconds; one question at a time is asked."""
        with self._closing:
            if self._closed:
                return False
            if self._ping is None or self._ping.is_settled(0.0):
                self._ping = _Job(Ping())
                self._queue.put(self._ping)
            asked = self._ping
        return asked.is_settled(patience)

    def works(self) -> bool:
        """Whether the thread is there, and has not been at one thing for so long that it must hang."""
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
        """What goes into one transaction, and whether more may come after it."""
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
        """Idle: until somebody wants to write. A reader in flight, or a full disk, only puts it off."""
        try:
            self._dirty = not self._tidy(lambda: not self._queue.empty(), patience=0.0)
            self._could_rest = True
        except StoreError as error:
            if self._could_rest:  # It is tried every few seconds.
                events.store_failed(work="rest", fault=error)
            self._could_rest = False
            time.sleep(0.1)

    def _tidy(self, busy: Callable[[], bool], patience: float) -> bool:
        """Fold the log into the file and pack what lies scattered in it; whether both are done."""
        if not self._file.reattach(patience=patience):
            return False
        with self._file.cursor() as cursor:
            self.whole.learn(cursor)
        due = packs_due(self._file)
        if not due:
            return True
        if not write_packs(self._file, due, busy, self.whole):
            return False
        return self._file.reattach(patience=patience)

    def _serve(self, jobs: Sequence[_Job]) -> None:
        """Write the jobs in one transaction; where that fails, each in one of its own."""
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
                        self._file.refuse_damaged()  # Reading what the group builds on may have shown it.
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
        self._ledgers.drop(staged.in_bulk)
        self._spare_memory(staged)
        for request, _ in done:
            if isinstance(request, Alone) and request.forgets is not None:
                self._ledgers.drop([request.forgets])
                self._forget(request.forgets)
        return settled

    def _spare_memory(self, staged: Staged) -> None:
        """After every few groups that nobody is about to read."""
        self._importing = bool(staged.in_bulk)
        self._in_bulk += self._importing
        if self._in_bulk >= _BULK:
            self._in_bulk = 0
            self._file.let_go_of_blocks()

    def _stage(self, cursor: duckdb.DuckDBPyConnection, staged: Staged, request: Request) -> Any:
        """The request's result, or the error that is its own alone."""
        try:
            match request:
                case Commit():
                    return stage_commit(self._ledgers, staged, cursor, request)
                case Record():
                    return stage_record(
                        self._ledgers, staged, cursor, request.conversation, request.generation
                    )
                case Alone():
                    return in_transaction(cursor, request.work)
        except duckdb.Error:
            raise
        except Exception as error:  # noqa: BLE001 - as above
            return error


def _log(settled: Sequence[tuple[_Job, Any]], begun: float) -> None:
    """Of one transaction that began then and is durable."""
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
    """Runs of jobs that can share a transaction, in order."""
    groups: list[list[_Job]] = []
    for job in jobs:
        alone = isinstance(job.request, Alone | Rest | Ping)
        if alone or not groups or isinstance(groups[-1][-1].request, Alone | Rest | Ping):
            groups.append([job])
        else:
            groups[-1].append(job)
    return groups
