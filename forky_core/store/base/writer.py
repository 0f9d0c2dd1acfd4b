"""The one thread that writes: it drains a queue into groups, each durable as one transaction (group commit).

One writer makes races a matter of order in a queue, and sixty-four callers share one fsync. Each gets its own result: a
commit that loses its race, or that the database refuses, fails alone; the rest of its group is written.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any

from forky_core.model import ConversationId, Generation
from forky_core.model.errors import InTheWay, StoreError
from forky_core.process import events
from forky_core.store.contract import Commit
from forky_core.store.moving.contract import ConversationPart

GROUP = 256
"""Most operations in one transaction."""
_CROWD = 8
"""Jobs in a group after which its callers will probably ask again soon: the next group waits for them."""
_STEP = 0.0004


@dataclass(frozen=True, slots=True)
class Record:
    conversation: ConversationId
    generation: Generation


@dataclass(frozen=True, slots=True)
class Adopt:
    """Parts of conversations of another store, to be written as they are."""

    parts: tuple[ConversationPart, ...]


@dataclass(frozen=True, slots=True)
class Alone:
    """Work that gets a transaction of its own: a blob, a setting, a purge."""

    work: Callable[[Any], Any]
    """It is called with the connection of the engine."""
    forgets: Sequence[ConversationId] = ()
    """The conversations of which nothing that is cached holds afterwards. The work may add to it."""


@dataclass(frozen=True, slots=True)
class Rest:
    """A request to do the work of idle time now, to its end."""


@dataclass(frozen=True, slots=True)
class Ping:
    """A request that only checks whether the thread responds; nothing is written."""


Request = Commit | Record | Adopt | Alone | Rest | Ping


class Job:
    """A request and, once it is settled, its outcome. A lock costs a tenth of what a Future costs to make and wake."""

    __slots__ = ("_error", "_result", "_settled", "asked", "request")

    def __init__(self, request: Request) -> None:
        self.request = request
        self.asked = time.perf_counter()
        self._settled = Lock()
        self._settled.acquire()
        self._result: Any = None
        self._error: Exception | None = None

    def settle(self, outcome: Any) -> None:
        """Give the job its result, or the error that `wait` will raise."""
        if isinstance(outcome, Exception):
            self._error = outcome
        else:
            self._result = outcome
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


class GroupWriter(ABC):
    """The queue and its thread. An engine says how a group is written."""

    hangs = 10.0
    """Seconds on one task after which the thread is considered hung; the slowest group ever measured took 0.5."""
    steps = 0
    """How often a group after a large one waits for more jobs."""
    mixes = True
    """Whether commits, records and parts share a transaction."""

    def __init__(self, name: str) -> None:
        """`name` is what people call the database. The engine calls `start` once it is ready."""
        self._name = name
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self._last_group = 0
        self._closing = Lock()
        self._closed = False
        self._busy_since: float | None = None
        """When the thread began its current task; None while it waits for work."""
        self._ping: Job | None = None
        """The last ping."""
        self._thread = Thread(target=self._run, name="forky-writer", daemon=True)

    @abstractmethod
    def _attempt(self, jobs: Sequence[Job]) -> list[Any]:
        """Do what the jobs ask for, in one transaction; the result of each, or the error that concerns it alone."""

    @abstractmethod
    def _trim(self) -> None:
        """Evict what is remembered of conversations; called between groups."""

    def _until_idle(self) -> float | None:
        """Seconds without work after which `_rest` is called; None: never."""
        return None

    def _rest(self) -> None:  # noqa: B027 - an engine may have no such work
        """Do the work of idle time until a request arrives."""

    def _failure(self, error: Exception) -> Exception:
        """What the caller gets of an error."""
        return error

    def _fails_for_all(self, error: Exception) -> bool:  # noqa: ARG002 - an engine knows its errors
        """Whether each job of the group would fail by itself, too."""
        return False

    def ask(self, request: Request) -> Any:
        """Submit a request and wait; the result once it is durable, or the request's error."""
        return self.ask_all((request,))[0]

    def tell(self, request: Request) -> None:
        """Submit a request without waiting for it or its errors."""
        with self._closing:
            if not self._closed:
                self._queue.put(Job(request))

    def ask_all(self, requests: Sequence[Request]) -> list[Any]:
        """Submit requests and wait; the results once all are durable, or the first error once all have finished.

        The requests after a failed one are attempted all the same.
        """
        jobs = [Job(request) for request in requests]
        with self._closing:
            if self._closed:
                raise StoreError(f"{self._name} is closed.")
            if self._thread.ident and not self._thread.is_alive():
                raise StoreError(
                    f"{self._name} was opened by another process, of which this one is a fork.",
                    "Open it after the fork, in one process at a time.",
                )
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

    def waiting(self) -> int:
        """Requests in the queue."""
        return self._queue.qsize()

    def busy(self) -> float:
        """Seconds that the thread has spent on its current task; 0.0 if it is idle."""
        since = self._busy_since
        return time.perf_counter() - since if since is not None else 0.0

    def works(self) -> bool:
        """Whether the thread is alive and has not been on one task for so long that it must hang."""
        return self._thread.is_alive() and self.busy() < self.hangs

    def answers(self, patience: float) -> bool:
        """Whether the thread responds to a ping within so many seconds; there is one ping at a time."""
        with self._closing:
            if self._closed:
                return False
            if self._ping is None or self._ping.is_settled(0.0):
                self._ping = Job(Ping())
                self._queue.put(self._ping)
            asked = self._ping
        return asked.is_settled(patience)

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
                first = self._queue.get(timeout=self._until_idle())
            except Empty:
                self._busy_since = time.perf_counter()
                self._rest()
                self._busy_since = None
                continue
            self._busy_since = time.perf_counter()
            jobs, open_for_more = self._group(first)
            for group in self._split(jobs):
                self._busy_since = time.perf_counter()
                self._serve(group)
            self._trim()
            self._busy_since = None

    def _group(self, first: Job | None) -> tuple[list[Job], bool]:
        """The jobs of the next transactions, and whether more may follow."""
        jobs: list[Job] = []
        job = first
        steps = self.steps if self._last_group >= _CROWD else 0
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

    def _split(self, jobs: Sequence[Job]) -> list[list[Job]]:
        """Split jobs into runs that can share a transaction, in order."""
        groups: list[list[Job]] = []
        kind: object = None
        for job in jobs:
            former, kind = kind, None
            if not isinstance(job.request, Alone | Rest | Ping):
                kind = "mixed" if self.mixes else type(job.request)
            if kind is not None and kind == former:
                groups[-1].append(job)
            else:
                groups.append([job])
        return groups

    def _serve(self, jobs: Sequence[Job]) -> None:
        """Write the jobs in one transaction; if that fails, each in one of its own."""
        begun = time.perf_counter()
        try:
            outcomes = self._attempt(jobs)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the caller's to hear
            if len(jobs) > 1 and not self._fails_for_all(error):
                for job in jobs:
                    self._serve([job])
                return
            failure = self._failure(error)
            if not isinstance(failure, InTheWay):
                events.store_failed(work=type(jobs[0].request).__name__.lower(), fault=failure)
            outcomes = [failure] * len(jobs)
        else:
            _log(jobs, outcomes, begun)
        for job, outcome in zip(jobs, outcomes, strict=True):
            job.settle(outcome)


def _log(jobs: Sequence[Job], outcomes: Sequence[Any], begun: float) -> None:
    """Log a transaction that began at `begun` and is durable."""
    kinds = [
        type(job.request)
        for job, outcome in zip(jobs, outcomes, strict=True)
        if not isinstance(outcome, Exception) and not isinstance(job.request, Rest | Ping)
    ]
    if kinds:
        now = time.perf_counter()
        events.store_committed(
            operations=kinds.count(Commit),
            records=kinds.count(Record),
            others=kinds.count(Alone) + kinds.count(Adopt),
            seconds=now - begun,
            waited=now - min(job.asked for job in jobs),
        )
