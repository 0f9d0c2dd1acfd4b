"""The one thread of a process that writes: it drains a queue into groups, each durable as one transaction.

Sixty-four callers share one trip and one fsync. Whether a commit may be published is decided here, on what the process
remembers of a conversation (its ledger); the database takes it only if the conversation is still at that version. If
another process came first, the ledger is brought up to date and the group decided again, so that each caller gets what
the contract says: its operation, or the error that names who was first.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any

import psycopg
from psycopg import errors

from forky_core.model import ConversationId, Generation, Message, Operation
from forky_core.model.errors import ForkyError, InTheWay, StoreError
from forky_core.model.parts import Json, canonical_json
from forky_core.process import events
from forky_core.store.contract import Commit
from forky_core.store.deciding import (
    FOUNDING_VERBS,
    changed_key,
    check_form,
    check_part,
    next_operation,
    no_conversation,
    outdated,
    unstored,
)
from forky_core.store.ledger import Ledger
from forky_core.store.moving.contract import ConversationPart
from forky_core.store.postgresql import statements as sql
from forky_core.store.postgresql.connection import Connection, fetch, run
from forky_core.store.postgresql.database import Database
from forky_core.store.postgresql.error_sentences import CAME_BETWEEN, is_cut, store_error
from forky_core.store.postgresql.other_processes import OtherProcesses
from forky_core.store.postgresql.texts import kept, row_kept, said
from forky_core.store.rows import (
    Row,
    generation_row,
    id_from_key,
    id_key,
    message_body,
    message_row,
    operation_row,
    operations_from_rows,
)

GROUP = 256
"""Most operations in one transaction."""
_LEDGERS = 1_000_000
"""Messages and entries that all ledgers together may hold."""
_TRIES = 50
"""How often a group is decided again where other processes came first."""
_CUT_FOR = 8.0
"""Seconds for which a group is tried again while the server cannot be reached."""
_HANGS = 15.0
"""Seconds on one task after which the thread is considered hung."""
_CAME_FIRST, _NO_CONVERSATION, _TAKEN_OVER = "FK001", "FK002", "FK003"
_AGAIN = (*CAME_BETWEEN, errors.UniqueViolation)


@dataclass(frozen=True, slots=True)
class Record:
    conversation: ConversationId
    generation: Generation


@dataclass(frozen=True, slots=True)
class Alone:
    """Work that gets a transaction of its own: a blob, a setting, a purge."""

    work: Callable[[Connection], Any]
    forgets: Sequence[ConversationId] = ()
    """The conversations of which nothing that is remembered holds afterwards. The work may add to it."""


@dataclass(frozen=True, slots=True)
class Adopt:
    """Parts of conversations of another store, to be written as they are."""

    parts: tuple[ConversationPart, ...]


Request = Commit | Record | Adopt | Alone


@dataclass(slots=True)
class ServerLedger(Ledger):
    """The ledger of a conversation as of one version; another process may have changed the conversation since."""

    erasures: int = 0


@dataclass(slots=True)
class _Append:
    """What a group adds to one conversation."""

    seen: int
    """The version that the conversation has before."""
    ledger: ServerLedger
    rows: dict[str, list[dict[str, Any]]] = field(
        default_factory=lambda: {"messages": [], "segments": [], "operations": [], "generations": []}
    )
    entries: dict[str, tuple[Json | None, int]] = field(default_factory=dict)
    derived: dict[str, str] = field(default_factory=dict)
    fresh: list[Message] = field(default_factory=list)

    def add_message(self, message: Message, body: tuple[str, str | None]) -> None:
        places = self.ledger.places
        segment, depth, origin = places.place(message.parent)
        if origin is not None:
            parent_segment, parent_depth = origin
            self.rows["segments"].append(
                {"segment": segment, "parent_segment": parent_segment, "parent_depth": parent_depth}
            )
        parent = places.numbers[message.parent] if message.parent is not None else None
        number = places.add(message.id, segment, depth)
        row = message_row(message, body, number, segment, depth, parent)
        self.rows["messages"].append(row_kept(row))
        self.fresh.append(message)

    def add_operation(self, operation: Operation, row: Row) -> None:
        """Add an operation, and have the ledger follow it; `row` is what `operation_row` made of it."""
        self.rows["operations"].append(row_kept(row))
        for change in operation.changes:
            self.entries[change.key] = (change.after, operation.number)
        self.ledger.take(operation)

    def reached(self) -> dict[str, object]:
        """Where the conversation is once this is written: an operation that is there then, and how many messages."""
        ledger = self.ledger
        assert ledger.last is not None
        return {"number": ledger.version, "id": id_key(ledger.last), "messages": len(ledger.places.numbers)}

    def given(self, workspace: str, process: str) -> dict[str, object]:
        """The parameters of `forky.append`."""
        calls = {row["id"]: row for row in self.rows["generations"]}
        gone = [kept(key) for key, (value, _) in self.entries.items() if value is None]
        entries = [
            {"key": kept(key), "value": canonical_json(value), "operation": number}
            for key, (value, number) in self.entries.items()
            if value is not None
        ]
        derived = [{"key": kept(key), "value": kept(value)} for key, value in self.derived.items()]
        ledger = self.ledger
        assert ledger.last is not None
        return {
            "workspace": workspace,
            "conversation": ledger.id,
            "seen": self.seen,
            "reached": ledger.version,
            "newest": id_key(ledger.last),
            "began": ledger.created,
            "moved": ledger.updated,
            "many": len(ledger.places.numbers),
            "runs": len(ledger.places.last),
            "messages": _as_json(self.rows["messages"]),
            "segments": _as_json(self.rows["segments"]),
            "operations": json.dumps(self.rows["operations"], ensure_ascii=False),
            "gone": gone or None,
            "entries": _as_json(entries),
            "derived": _as_json(derived),
            "calls": _as_json(list(calls.values())),
            "process": process,
        }


def _as_json(rows: list[dict[str, Any]]) -> str | None:
    """Rows as a function of the database takes them; None if there are none."""
    return json.dumps(rows, ensure_ascii=False) if rows else None


class _Job:
    __slots__ = ("asked", "future", "request")

    def __init__(self, request: Request) -> None:
        self.request = request
        self.asked = time.perf_counter()
        self.future: Future[Any] = Future()


class Writer:
    """Writes for all threads of a process. Close it."""

    def __init__(
        self,
        database: Database,
        published: Callable[[Mapping[ConversationId, Sequence[Message]]], None],
        forgotten: Callable[[ConversationId], None],
        others: OtherProcesses,
    ) -> None:
        """`published` is told what has just become durable, before its callers get their results."""
        self._database = database
        self._others = others
        self._published = published
        self._forgotten = forgotten
        self._held: OrderedDict[ConversationId, ServerLedger] = OrderedDict()
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._closing = Lock()
        self._closed = False
        self._busy_since: float | None = None
        self._connection: Connection | None = None
        self._thread = Thread(target=self._run, name="forky-writer", daemon=True)
        self._thread.start()

    def ask(self, request: Request) -> Any:
        """Submit a request and wait; the result once it is durable, or the request's error."""
        return self.ask_all((request,))[0]

    def ask_all(self, requests: Sequence[Request]) -> list[Any]:
        """Submit requests and wait; the results once all are durable, or the first error once all have finished."""
        jobs = [_Job(request) for request in requests]
        with self._closing:
            if self._closed:
                raise StoreError(f"{self._database.name} is closed.")
            for job in jobs:
                self._queue.put(job)
        failed = next((error for job in jobs if (error := job.future.exception()) is not None), None)
        if failed is not None:
            raise failed
        return [job.future.result() for job in jobs]

    def tell(self, request: Request) -> None:
        """Submit a request without waiting for it or its errors."""
        with self._closing:
            if not self._closed:
                self._queue.put(_Job(request))

    def waiting(self) -> int:
        return self._queue.qsize()

    def busy(self) -> float:
        """Seconds that the thread has spent on its current task; 0.0 if it is idle."""
        since = self._busy_since
        return time.perf_counter() - since if since is not None else 0.0

    def works(self) -> bool:
        return self._thread.is_alive() and self.busy() < _HANGS

    def close(self) -> None:
        """Finish what is queued, then stop."""
        with self._closing:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()
        if self._connection is not None:
            self._connection.close()

    def _run(self) -> None:
        open_for_more = True
        while open_for_more:
            first = self._queue.get()
            self._busy_since = time.perf_counter()
            jobs: list[_Job] = []
            job = first
            while job is not None:
                jobs.append(job)
                if len(jobs) == GROUP:
                    break
                try:
                    job = self._queue.get_nowait()
                except Empty:
                    break
            else:
                open_for_more = False
            for group in _split(jobs):
                self._serve(group)
            self._trim()
            self._busy_since = None

    def _serve(self, jobs: Sequence[_Job]) -> None:
        """Write the jobs in one transaction; if that fails, each in one of its own."""
        begun = time.perf_counter()
        try:
            results = self._attempt(jobs)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the caller's to hear
            away = isinstance(error, psycopg.Error) and is_cut(error)
            if len(jobs) > 1 and not away and not isinstance(error, StoreError):
                for job in jobs:
                    self._serve([job])
                return
            failure = _failure(error, self._database.name)
            if not isinstance(failure, InTheWay):
                events.store_failed(work=type(jobs[0].request).__name__.lower(), fault=failure)
            for job in jobs:
                job.future.set_exception(failure)
            return
        _log(jobs, results, begun)
        for job, result in zip(jobs, results, strict=True):
            if isinstance(result, Exception):
                job.future.set_exception(result)
            else:
                job.future.set_result(result)

    def _attempt(self, jobs: Sequence[_Job]) -> list[Any]:
        """Do what the jobs, all of one kind, ask for; results or errors in their order. It is done again where another
        process came first, and where the connection was cut and nothing was written.
        """
        races, cut_until = 0, 0.0
        while races < _TRIES:
            connection = self._connected()
            appends: dict[ConversationId, _Append] = {}
            results: list[Any] = []
            try:
                self._others.live(connection)
                match jobs[0].request:
                    case Alone() as request:
                        return [self._alone(connection, request)]
                    case Record():
                        return [self._record(connection, job.request) for job in jobs]
                results = [self._decide(connection, appends, job.request) for job in jobs]
                self._write(connection, appends)
            except BaseException as error:
                self._drop(appends)
                if not isinstance(error, psycopg.Error):
                    raise
                if error.sqlstate == _CAME_FIRST or isinstance(error, _AGAIN):
                    races += 1
                    continue
                cut_until = cut_until or time.monotonic() + _CUT_FOR
                if not is_cut(error) or time.monotonic() > cut_until:
                    raise
                connection.close()
                if not self._survived(appends):
                    continue
            self._published({id: one.fresh for id, one in appends.items()})
            return results
        raise StoreError(
            f"{self._database.name}: others wrote to the same conversation all the time.",
            "Nothing was written; try again.",
        )

    def _connected(self) -> Connection:
        """The thread's connection; a server that is away is waited for. If it stays so, psycopg.OperationalError."""
        latest = time.monotonic() + _CUT_FOR
        while self._connection is None or self._connection.closed or self._connection.broken:
            try:
                self._connection = self._database.connect()
            except psycopg.OperationalError as error:
                if not is_cut(error) or time.monotonic() > latest:
                    raise
                time.sleep(0.2)
        return self._connection

    def _survived(self, appends: Mapping[ConversationId, _Append]) -> bool:
        """Whether a group whose connection was cut during its commit was written all the same: one asks for the ids."""
        if not appends:
            return False
        while True:
            connection = self._connected()
            try:
                return all(
                    run(
                        connection,
                        sql.IS_AT,
                        workspace=self._database.workspace,
                        conversation=id,
                        **one.reached(),
                    )
                    for id, one in appends.items()
                )
            except psycopg.OperationalError as error:
                if not is_cut(error):
                    raise
                connection.close()

    def _alone(self, connection: Connection, request: Alone) -> Any:
        worked = False
        try:
            with connection.transaction():
                result = request.work(connection)
                worked = True
        except psycopg.OperationalError as error:
            if worked and is_cut(error):
                raise StoreError(
                    f"{self._database.name}: the connection was cut while something was written.",
                    "Look whether it was done before you do it again.",
                ) from error
            raise
        self._drop(request.forgets)
        for id in request.forgets:
            self._forgotten(id)
        return result

    def _record(self, connection: Connection, request: Request) -> ForkyError | None:
        """Save a call; the error if its conversation is not there, which concerns this request alone."""
        assert isinstance(request, Record)
        try:
            run(
                connection,
                sql.RECORD,
                workspace=self._database.workspace,
                conversation=request.conversation,
                call=json.dumps(row_kept(generation_row(request.generation)), ensure_ascii=False),
                process=self._database.process,
            )
        except psycopg.Error as error:
            if error.sqlstate == _NO_CONVERSATION:
                return no_conversation(request.conversation)
            if error.sqlstate == _TAKEN_OVER:
                return _taken_over()
            raise
        return None

    def _decide(
        self, connection: Connection, appends: dict[ConversationId, _Append], request: Request
    ) -> Any:
        """The request's result, or the error that concerns this request alone."""
        try:
            try:
                return self._decided(connection, appends, request)
            except ForkyError:
                stale = [
                    id for id in _named(request) if id not in appends and not self._is_fresh(connection, id)
                ]
                if not stale:
                    raise
                # What was remembered is out of date: another process has written meanwhile.
                self._drop(stale)
                return self._decided(connection, appends, request)
        except psycopg.Error:
            raise
        except Exception as error:  # noqa: BLE001 - as above
            return error

    def _decided(
        self, connection: Connection, appends: dict[ConversationId, _Append], request: Request
    ) -> Operation | None:
        match request:
            case Commit():
                return self._decide_commit(connection, appends, request)
            case Adopt():
                self._decide_parts(connection, appends, request.parts)
        return None

    def _decide_commit(
        self, connection: Connection, appends: dict[ConversationId, _Append], commit: Commit
    ) -> Operation:
        check_form(commit)
        id = commit.conversation
        append = appends.get(id)
        ledger = append.ledger if append is not None else self._ledger(connection, id)
        new = ledger is None
        if ledger is None:
            if commit.verb not in FOUNDING_VERBS:
                raise no_conversation(id)
            ledger = ServerLedger(id)
        key = changed_key(commit, ledger.entries)
        if key is not None:
            raise outdated(key, self._mover(connection, ledger, key))
        if commit.expected is not None and commit.expected != ledger.version:
            raise outdated("", self._operation(connection, ledger, commit.expected + 1))
        fresh = list(unstored(commit.messages, ledger.places.numbers).values())
        operation = next_operation(commit, number=ledger.version + 1, previous=ledger.last)
        bodies = [message_body(message) for message in fresh]
        row = operation_row(operation)
        if new:
            self._held[id] = ledger
        if append is None:
            append = appends[id] = _Append(ledger.version, ledger)
        for message, body in zip(fresh, bodies, strict=True):
            append.add_message(message, body)
        append.add_operation(operation, row)
        append.rows["generations"].extend(
            row_kept(generation_row(generation)) for generation in commit.generations
        )
        append.derived.update(commit.derived)
        return operation

    def _decide_parts(
        self,
        connection: Connection,
        appends: dict[ConversationId, _Append],
        parts: Sequence[ConversationPart],
    ) -> None:
        """Parts of conversations of another store, as `MovableStore.adopt` takes them."""
        checked: list[tuple[ConversationPart, ServerLedger | None, list[Message]]] = []
        for part in parts:
            append = appends.get(part.conversation)
            found = append.ledger if append is not None else self._ledger(connection, part.conversation)
            base = found or ServerLedger(part.conversation)
            check_part(part, version=base.version, last=base.last)
            checked.append((part, found, list(unstored(part.messages, base.places.numbers).values())))
        for part, found, fresh in checked:
            if not (fresh or part.operations or part.generations or part.derived):
                continue
            ledger = self._held[part.conversation] = found or ServerLedger(part.conversation)
            append = appends.setdefault(part.conversation, _Append(ledger.version, ledger))
            for message in fresh:
                append.add_message(message, message_body(message))
            for operation in part.operations:
                append.add_operation(operation, operation_row(operation))
            append.rows["generations"].extend(
                row_kept(generation_row(generation)) for generation in part.generations
            )
            append.derived.update(part.derived)

    def _write(self, connection: Connection, appends: Mapping[ConversationId, _Append]) -> None:
        """Write a group in one trip, as one transaction."""
        given = [one.given(self._database.workspace, self._database.process) for one in appends.values()]
        if len(given) == 1:
            run(connection, sql.APPEND, **given[0])
        elif given:
            with connection.pipeline(), connection.transaction():
                for one in given:
                    connection.execute(sql.APPEND, one)  # Its row is not waited for.

    def _ledger(self, connection: Connection, id: ConversationId) -> ServerLedger | None:
        """The ledger of a stored conversation as of now or a moment ago; None for an unknown id."""
        ledger = self._held.get(id)
        if ledger is not None:
            self._held.move_to_end(id)
            return ledger
        ledger = read_ledger(connection, self._database.workspace, id)
        if ledger is not None:
            self._held[id] = ledger
        return ledger

    def _is_fresh(self, connection: Connection, id: ConversationId) -> bool:
        """Whether the held ledger of a conversation is as the database has it; True if none is held."""
        ledger = self._held.get(id)
        if ledger is None:
            return True
        rows = run(connection, sql.CONVERSATION, workspace=self._database.workspace, conversation=id)
        return bool(rows) and (rows[0][0], rows[0][5]) == (ledger.version, ledger.erasures)

    def _drop(self, ids: Iterable[ConversationId]) -> None:
        for id in ids:
            self._held.pop(id, None)

    def _trim(self) -> None:
        held = sum(ledger.weight for ledger in self._held.values()) if len(self._held) % 64 == 1 else 0
        while held > _LEDGERS and len(self._held) > 1:
            _, ledger = self._held.popitem(last=False)
            held -= ledger.weight

    def _mover(self, connection: Connection, ledger: ServerLedger, key: str) -> Operation | None:
        """The operation that last changed `key`."""
        number = ledger.moved.get(key)
        if number is None:
            rows = run(
                connection,
                sql.LAST_TO_MOVE,
                workspace=self._database.workspace,
                conversation=ledger.id,
                key=f"[{canonical_json(key)},",
            )
            number = rows[0][0] if rows else None
        return self._operation(connection, ledger, number) if number is not None else None

    def _operation(self, connection: Connection, ledger: ServerLedger, number: int) -> Operation | None:
        if number in ledger.recent:
            return ledger.recent[number]
        rows = fetch(
            connection,
            sql.OPERATIONS,
            workspace=self._database.workspace,
            conversation=ledger.id,
            first=max(number - 1, 1),
            last=number,
        )
        found = operations_from_rows(ledger.id, rows, None)
        return found[-1] if found and found[-1].number == number else None


def read_ledger(connection: Connection, workspace: str, id: ConversationId) -> ServerLedger | None:
    """Read all that the writer needs of a conversation, as of one moment; None for an unknown id."""
    here = {"workspace": workspace, "conversation": id}
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        rows = run(connection, sql.CONVERSATION, **here)
        if not rows:
            return None
        ((version, last, created, updated, _, erasures),) = rows
        ledger = ServerLedger(
            id,
            version=version,
            last=id_from_key(last),
            created=created,
            updated=updated,
            erasures=erasures,
        )
        for key, value, number in run(connection, sql.ENTRIES, **here):
            ledger.entries[said(key)] = json.loads(value)
            ledger.moved[said(key)] = number
        for message, segment, depth in run(connection, sql.PLACES, **here):
            ledger.places.add(message, segment, depth)
    return ledger


def _failure(error: Exception, name: str) -> Exception:
    """What the caller hears of an error: a sentence, where PostgreSQL raised it."""
    if not isinstance(error, psycopg.Error):
        return error
    return _taken_over() if error.sqlstate == _TAKEN_OVER else store_error(error, name)


def _taken_over() -> ForkyError:
    return InTheWay(
        "Another process of Forky writes this reply: nothing was heard from this one for ten seconds.",
        "What had arrived by then is kept there.",
    )


def _named(request: Request) -> tuple[ConversationId, ...]:
    """The conversations that are decided about."""
    match request:
        case Commit():
            return (request.conversation,)
        case Adopt():
            return tuple(part.conversation for part in request.parts)
    return ()


def _split(jobs: Sequence[_Job]) -> list[list[_Job]]:
    """Split jobs into runs of one kind that can share a transaction, in order."""
    groups: list[list[_Job]] = []
    for job in jobs:
        alone = isinstance(job.request, Alone)
        if alone or not groups or type(groups[-1][-1].request) is not type(job.request):
            groups.append([job])
        else:
            groups[-1].append(job)
    return groups


def _log(jobs: Sequence[_Job], results: Sequence[Any], begun: float) -> None:
    kinds = [
        type(job.request)
        for job, result in zip(jobs, results, strict=True)
        if not isinstance(result, Exception)
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
