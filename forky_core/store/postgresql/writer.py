"""The thread of a process that writes to PostgreSQL, where other processes write, too.

Whether a commit may be published is decided on what the process remembers of a conversation (its ledger); the database
takes it only if the conversation is still at that version. If another process came first, the ledger is brought up to
date and the group decided again, so that each caller gets what the contract says: its operation, or the error that
names who was first.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import errors

from forky_core.model import ConversationId, Message, Operation
from forky_core.model.errors import ForkyError, InTheWay, StoreError
from forky_core.model.parts import Json, canonical_json
from forky_core.store.base.ledger import Ledger
from forky_core.store.base.staging import Group, Ledgers
from forky_core.store.base.writer import Adopt, Alone, GroupWriter, Job, Record, Request
from forky_core.store.contract import Commit
from forky_core.store.deciding import no_conversation
from forky_core.store.moving.contract import ConversationPart
from forky_core.store.postgresql import statements as sql
from forky_core.store.postgresql.connection import Connection
from forky_core.store.postgresql.database import Database
from forky_core.store.postgresql.error_sentences import CAME_BETWEEN, is_cut, store_error
from forky_core.store.postgresql.other_processes import OtherProcesses
from forky_core.store.postgresql.texts import kept, row_kept
from forky_core.store.rows import Row, generation_row, id_from_key, id_key, operations_from_rows

_TRIES = 50
"""How often a group is decided again where other processes came first."""
_CUT_FOR = 8.0
"""Seconds for which a group is tried again while the server cannot be reached."""
_CAME_FIRST, _NO_CONVERSATION, _TAKEN_OVER = "FK001", "FK002", "FK003"
_AGAIN = (*CAME_BETWEEN, errors.UniqueViolation)


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
        default_factory=lambda: {"messages": [], "segments": [], "operations": []}
    )
    calls: dict[str, dict[str, Any]] = field(default_factory=dict)
    entries: dict[str, tuple[Json | None, int]] = field(default_factory=dict)
    derived: dict[str, str] = field(default_factory=dict)
    fresh: list[Message] = field(default_factory=list)

    def reached(self) -> dict[str, object]:
        """Where the conversation is once this is written: an operation that is there then, and how many messages."""
        ledger = self.ledger
        assert ledger.last is not None
        return {"number": ledger.version, "id": id_key(ledger.last), "messages": len(ledger.places.numbers)}

    def given(self) -> dict[str, object]:
        """The parameters of `forky.append`, but for the process."""
        gone = [key for key, (value, _) in self.entries.items() if value is None]
        entries = [
            {"key": kept(key), "value": canonical_json(value), "operation": number}
            for key, (value, number) in self.entries.items()
            if value is not None
        ]
        derived = [{"key": kept(key), "value": kept(value)} for key, value in self.derived.items()]
        ledger = self.ledger
        assert ledger.last is not None
        return {
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
            "calls": _as_json(list(self.calls.values())),
        }


def _as_json(rows: list[dict[str, Any]]) -> str | None:
    """Rows as a function of the database takes them; None if there are none."""
    return json.dumps(rows, ensure_ascii=False) if rows else None


class ServerGroup(Group[ServerLedger]):
    """What a group adds, by conversation. Only the writer's thread uses it."""

    def __init__(self, ledgers: Ledgers[ServerLedger], connection: Connection) -> None:
        self._ledgers = ledgers
        self._connection = connection
        self.appends: dict[ConversationId, _Append] = {}

    def ledger(self, id: ConversationId) -> ServerLedger | None:
        """The ledger as of now or a moment ago."""
        ledger = self._ledgers.find(id)
        if ledger is None:
            ledger = read_ledger(self._connection, id)
            if ledger is not None:
                self._ledgers.hold(ledger)
        return ledger

    def begin(self, id: ConversationId) -> ServerLedger:
        return self._ledgers.hold(ServerLedger(id))

    def _append(self, ledger: ServerLedger) -> _Append:
        append = self.appends.get(ledger.id)
        if append is None:
            append = self.appends[ledger.id] = _Append(ledger.version, ledger)
        return append

    def add_row(self, ledger: ServerLedger, table: str, row: Row) -> None:
        self._append(ledger).rows[table].append(row_kept(row))

    def add_changes(self, ledger: ServerLedger, operation: Operation) -> None:
        entries = self._append(ledger).entries
        entries.update((change.key, (change.after, operation.number)) for change in operation.changes)

    def add_rest(self, ledger: ServerLedger, part: ConversationPart, *, in_bulk: bool) -> None:
        del in_bulk  # Nothing is cached of what is written.
        append = self._append(ledger)
        append.fresh.extend(part.messages)
        append.calls.update((call.id, row_kept(generation_row(call))) for call in part.generations)
        append.derived.update(part.derived)

    def stored_operation(self, ledger: ServerLedger, number: int) -> Operation | None:
        given = {"first": max(number - 1, 1), "last": number}
        rows = self._connection.fetch(sql.OPERATIONS, conversation=ledger.id, **given)
        found = operations_from_rows(ledger.id, rows, None)
        return found[-1] if found and found[-1].number == number else None

    def last_to_move(self, ledger: ServerLedger, key: str) -> int | None:
        rows = self._connection.rows(sql.LAST_TO_MOVE, conversation=ledger.id, json=key)
        return rows[0][0] if rows else None

    def outcome(self, request: Request) -> Any:
        """The request's result, or the error that concerns this request alone."""
        try:
            try:
                return self._decided(request)
            except ForkyError:
                stale = [id for id in _named(request) if id not in self.appends and not self._is_fresh(id)]
                if not stale:
                    raise
                # What was remembered is out of date: another process has written meanwhile.
                self._ledgers.drop(stale)
                return self._decided(request)
        except psycopg.Error:
            raise
        except Exception as error:  # noqa: BLE001 - it is the caller's to hear
            return error

    def _decided(self, request: Request) -> Operation | None:
        match request:
            case Commit():
                return self.decide(request)
            case Adopt():
                self.decide_parts(request.parts)
        return None

    def _is_fresh(self, id: ConversationId) -> bool:
        """Whether the ledger of a conversation is as the database has it; True if none is remembered."""
        ledger = self._ledgers.find(id)
        if ledger is None:
            return True
        rows = self._connection.rows(sql.CONVERSATION, conversation=id)
        return bool(rows) and (rows[0][0], rows[0][5]) == (ledger.version, ledger.erasures)

    def write(self, process: str) -> None:
        """Write the group in one trip, as one transaction."""
        given = [one.given() | {"process": process} for one in self.appends.values()]
        if len(given) == 1:
            self._connection.rows(sql.APPEND, **given[0])
        elif given:
            with self._connection.pipeline(), self._connection.transaction():
                for one in given:
                    self._connection.send(sql.APPEND, **one)  # Its row is not waited for.


class ServerWriter(GroupWriter):
    """Writes for all threads of a process. Close it."""

    hangs = 15.0
    mixes = False

    def __init__(
        self,
        database: Database,
        published: Callable[[Mapping[ConversationId, Sequence[Message]]], None],
        forgotten: Callable[[ConversationId], None],
        others: OtherProcesses,
    ) -> None:
        """`published` is told what has just become durable, before its callers get their results."""
        super().__init__(database.name)
        self._database = database
        self._others = others
        self._published = published
        self._forgotten = forgotten
        self._ledgers = Ledgers[ServerLedger]()
        self._connection: Connection | None = None
        self._thread.start()

    def close(self) -> None:
        super().close()
        if self._connection is not None:
            self._connection.close()

    def _trim(self) -> None:
        self._ledgers.trim()

    def _fails_for_all(self, error: Exception) -> bool:
        return isinstance(error, StoreError) or (isinstance(error, psycopg.Error) and is_cut(error))

    def _failure(self, error: Exception) -> Exception:
        """What the caller hears of an error: a sentence, where PostgreSQL raised it."""
        if not isinstance(error, psycopg.Error):
            return error
        return _taken_over() if error.sqlstate == _TAKEN_OVER else store_error(error, self._name)

    def _attempt(self, jobs: Sequence[Job]) -> list[Any]:
        """Do what the jobs, all of one kind, ask for. It is done again where another process came first, and where the
        connection was cut and nothing was written.
        """
        races, cut_until = 0, 0.0
        while races < _TRIES:
            connection = self._connected()
            group = ServerGroup(self._ledgers, connection)
            results: list[Any] = []
            try:
                self._others.live(connection)
                match jobs[0].request:
                    case Alone() as request:
                        return [self._alone(connection, request)]
                    case Record():
                        return [self._record(connection, job.request) for job in jobs]
                results = [group.outcome(job.request) for job in jobs]
                group.write(self._database.process)
            except BaseException as error:
                self._ledgers.drop(group.appends)
                if not isinstance(error, psycopg.Error):
                    raise
                if error.sqlstate == _CAME_FIRST or isinstance(error, _AGAIN):
                    races += 1
                    continue
                cut_until = cut_until or time.monotonic() + _CUT_FOR
                if not is_cut(error) or time.monotonic() > cut_until:
                    raise
                connection.close()
                if not self._survived(group.appends):
                    continue
            self._published({id: one.fresh for id, one in group.appends.items()})
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
                    connection.rows(sql.IS_AT, conversation=id, **one.reached())
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
        self._ledgers.drop(request.forgets)
        for id in request.forgets:
            self._forgotten(id)
        return result

    def _record(self, connection: Connection, request: Request) -> ForkyError | None:
        """Save a call; the error if its conversation is not there, which concerns this request alone."""
        assert isinstance(request, Record)
        try:
            connection.rows(
                sql.RECORD,
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


def read_ledger(connection: Connection, id: ConversationId) -> ServerLedger | None:
    """Read all that the writer needs of a conversation, as of one moment; None for an unknown id."""
    here = {"conversation": id}
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        rows = connection.rows(sql.CONVERSATION, **here)
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
        for key, value, number in connection.rows(sql.ENTRIES, **here):
            ledger.entries[key] = json.loads(value)
            ledger.moved[key] = number
        for message, segment, depth in connection.rows(sql.PLACES, **here):
            ledger.places.add(message, segment, depth)
    return ledger


def _taken_over() -> ForkyError:
    return InTheWay(
        "Another process of Forky writes this reply: nothing was heard from this one for ten seconds.",
        "What had arrived by then is kept there.",
    )


def _named(request: Request) -> Iterable[ConversationId]:
    """The conversations that are decided about."""
    match request:
        case Commit():
            return (request.conversation,)
        case Adopt():
            return tuple(part.conversation for part in request.parts)
    return ()
