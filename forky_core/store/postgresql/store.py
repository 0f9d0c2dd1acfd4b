"""Conversations in PostgreSQL, in one workspace of it: the store of a team that outgrows one machine.

Several processes use one database at once. So nothing that a process remembers is believed without a look at the
version, or at how often something was erased, which is one row by its key. Messages never change but by an erasure, and
are read once. Writes go through one thread (writer.py). Every law of the contract is proven by tests/store/laws/.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any

from forky_core.model import (
    Blob,
    ConversationId,
    ConversationSummary,
    Generation,
    GenerationId,
    Message,
    MessageId,
    Operation,
    PathOverlap,
    Role,
    View,
)
from forky_core.model.parts import Json
from forky_core.process import events
from forky_core.process.scheduling import gc_paused
from forky_core.store.base.reading import Key, read_log, read_message, read_path
from forky_core.store.base.rewriting import purge_rows
from forky_core.store.base.store import StoreInDatabase
from forky_core.store.base.views import Views
from forky_core.store.base.writer import Alone
from forky_core.store.contract import Erased, NewSetting, Talk, Verification
from forky_core.store.deciding import content_elsewhere, no_blob, no_conversation, no_message
from forky_core.store.herald import Heard
from forky_core.store.message_cache import CachedMessages
from forky_core.store.path_matching import path_overlap
from forky_core.store.postgresql import statements as sql
from forky_core.store.postgresql.analysis import write_analysis_tables
from forky_core.store.postgresql.connection import Connection
from forky_core.store.postgresql.connections import MOST_CONNECTIONS
from forky_core.store.postgresql.database import Database, connect_to
from forky_core.store.postgresql.documents import PostgresDocuments
from forky_core.store.postgresql.other_processes import OtherProcesses
from forky_core.store.postgresql.rewriting import erase_rows, lock, set_setting
from forky_core.store.postgresql.talk import TopicTalk
from forky_core.store.postgresql.verify import verify_workspace
from forky_core.store.postgresql.views import make_views
from forky_core.store.postgresql.writer import ServerWriter
from forky_core.store.rows import generation_from_row, id_from_key, message_from_row
from forky_core.store.summary import summary_of

FIRST = "main"
"""The workspace of whoever names none."""
_SHORT = 4000
"""Messages up to which a conversation is read whole when one of its paths is wanted."""
_AWAKE = 15
"""Seconds that a server must be up before a reply is taken over: who writes one could not say before that they live."""
_LOGS = 200
"""Conversations whose logs are remembered."""


class PostgresStore(StoreInDatabase):
    """A `Store` in one workspace of a PostgreSQL database, which other processes may write, too."""

    def __init__(self, database: Database) -> None:
        """Use a database that is connected; see `open`."""
        super().__init__(database)
        self._database = database
        self._lock = Lock()
        self._erasures: dict[ConversationId, int] = {}
        """How often something had been erased in each conversation when its messages were cached."""
        self._views = Views()
        self._logs: OrderedDict[ConversationId, tuple[int, list[Operation]]] = OrderedDict()
        """Whole logs, with the number of erasures as of which they are."""
        self._lines: dict[ConversationId, tuple[tuple[int, int], ConversationSummary]] = {}
        self._others = OtherProcesses(database, self._herald.tell)
        self._writer = ServerWriter(database, self._published, self._forgotten, self._others)
        self.documents = PostgresDocuments(database, self._writer)

    @classmethod
    def open(
        cls,
        url: str,
        *,
        workspace: str = FIRST,
        connections: int = MOST_CONNECTIONS,
        process: str | None = None,
    ) -> PostgresStore:
        """Connect to a database, make its tables if it has none, and migrate them to the newest schema.

        `process` names whoever uses it, in the place of this process.

        Raises:
            StoreError: the server cannot be reached or used; the sentence says why, and what to do.
            StoreTooNew: a later version of Forky has changed the schema so that this one cannot use it.
            StoreBusy: the schema has to be changed, and programs of an older version live that could not go on.
            NotInstalled: the packages of the extra `postgresql` are missing.
        """
        begun = time.perf_counter()
        database = Database(connect_to(url, connections=connections, process=process), workspace)
        store = cls(database)
        events.store_opened(size=store.status().size, seconds=time.perf_counter() - begun)
        return store

    @property
    def server(self) -> str:
        return self._database.name

    def hear(self, heard: Heard) -> Callable[[], None]:
        self._others.listen()
        return super().hear(heard)

    def talk(self, topic: str, heard: Callable[[str], None], met: Callable[[Talk], None]) -> Talk:
        return TopicTalk(self._database.connections.channel, topic, heard, met)

    def _published(self, fresh: Mapping[ConversationId, Sequence[Message]]) -> None:
        for id, messages in fresh.items():
            shelf = self._cache.cached(id)
            if shelf is not None and messages:
                shelf.keep(messages)
        self._herald.tell(fresh)
        self._others.tell(fresh)

    def _forgotten(self, conversation: ConversationId) -> None:
        with self._lock:
            self._drop(conversation)
        self._herald.tell([conversation])
        self._others.tell([conversation])

    def _drop(self, conversation: ConversationId) -> None:
        self._cache.drop(conversation)
        self._erasures.pop(conversation, None)
        self._views.drop(conversation)
        self._logs.pop(conversation, None)
        self._lines.pop(conversation, None)

    def _state(self, conversation: ConversationId) -> tuple[int, int, int]:
        """Messages, erasures and version of a conversation, now. Raises NotFound for an unknown id."""
        rows = self._database.rows(sql.STATE, conversation=conversation)
        if not rows:
            with self._lock:
                self._drop(conversation)
            raise no_conversation(conversation)
        ((messages, erasures, version),) = rows
        return messages, erasures, version

    def _shelf(self, conversation: ConversationId) -> tuple[CachedMessages, int]:
        """What is cached of a conversation, as long as nothing of it was erased since; and how many messages it has."""
        many, erasures, _ = self._state(conversation)
        with self._lock:
            if self._erasures.get(conversation, erasures) != erasures:
                self._drop(conversation)
            self._erasures[conversation] = erasures
        return self._cache.shelf(conversation), many

    # Views and logs

    def view(self, conversation: ConversationId) -> View:
        held, purges = self._views.find(conversation), self._views.purges
        if held is not None and self._state(conversation)[2] == held.version:
            return held
        rows = self._database.rows(sql.VIEW, conversation=conversation)
        if not rows:
            raise no_conversation(conversation)
        entries = {key: json.loads(value) for _, key, value in rows if key is not None}
        view = View(MappingProxyType(entries), rows[0][0])
        kept = self._views.keep(conversation, view, purges)
        # A conversation that was deleted and came back begins anew.
        return kept if kept.version == view.version else view

    def entries(self, key: str) -> Mapping[ConversationId, Json]:
        rows = self._database.rows(sql.ENTRIES_NAMED, key=key)
        return {ConversationId(id): json.loads(value) for id, value in rows}

    def operations(
        self, conversation: ConversationId, *, after: int = 0, limit: int | None = None
    ) -> tuple[Operation, ...]:
        _, erasures, version = self._state(conversation)
        first = max(after, 0) + 1
        if limit is not None:
            first = max(first, version - limit + 1)
        with self._lock:
            held = self._logs.get(conversation)
            log = list(held[1]) if held is not None and held[0] == erasures else []
        if not log and first > 1:
            return tuple(read_log(self._database, conversation, conversation, after=first - 1, last=version))
        if len(log) < version:
            log.extend(read_log(self._database, conversation, conversation, after=len(log), last=version))
            with self._lock:
                self._logs[conversation] = (erasures, log)
                self._logs.move_to_end(conversation)
                while len(self._logs) > _LOGS:
                    self._logs.popitem(last=False)
        return tuple(log[first - 1 : version])

    # Messages

    def message(self, conversation: ConversationId, message: MessageId) -> Message:
        shelf, _ = self._shelf(conversation)
        known = shelf.known.get(message)
        if known is None:
            known = read_message(self._database, conversation, message)
            if known is None:
                raise no_message(message)
            (known,) = shelf.keep([known])
        return known

    def messages(self, conversation: ConversationId) -> Mapping[MessageId, Message]:
        shelf, many = self._shelf(conversation)
        found = self._whole(conversation, shelf, many)
        self._cache.trim()
        return found

    def _whole(
        self, conversation: ConversationId, shelf: CachedMessages, many: int
    ) -> Mapping[MessageId, Message]:
        """All messages of a conversation that has at least so many; what is new since the last time is read."""
        found = shelf.snapshot()
        if found is not None and len(found) >= many:
            return found
        with shelf.loading:
            found = shelf.snapshot()
            after = len(found) if found is not None else 0
            if found is None or after < many:
                ids = list(found) if found is not None else []
                read = self._read(conversation, after, ids, shelf.known)
                if found is None:
                    shelf.complete(read)
                else:
                    shelf.publish(read)
                found = shelf.snapshot()
        assert found is not None
        return found

    @gc_paused()
    def _read(
        self,
        conversation: ConversationId,
        after: int,
        ids: list[MessageId],
        known: Mapping[MessageId, Message],
    ) -> list[Message]:
        """The messages after the first `after`, whose ids are given in the order they were written."""
        found: list[Message] = []
        for _, key, parent, role, text, rest, created in self._database.rows(
            sql.MESSAGES, conversation=conversation, after=after
        ):
            id = MessageId(key)
            message = known.get(id)
            if message is None:
                above = ids[parent - 1] if parent is not None else None
                message = message_from_row(id, above, role, text, rest, created)
            ids.append(message.id)
            found.append(message)
        return found

    def path(self, conversation: ConversationId, head: MessageId) -> tuple[Message, ...]:
        shelf, many = self._shelf(conversation)
        path = shelf.path(head)
        if path is None and many <= _SHORT:
            self._whole(conversation, shelf, many)
            path = shelf.path(head)
        if path is None:
            read = read_path(self._database, conversation, head, _rows_of_ranges)
            if read is None:
                raise no_message(head)
            path = tuple(shelf.keep(read))
        self._cache.trim()
        return path

    def at_hand(self, conversation: ConversationId) -> bool:
        shelf, many = self._shelf(conversation)
        found = shelf.snapshot()
        return found is not None and len(found) >= many

    def path_overlap(
        self, conversation: ConversationId, path: Sequence[MessageId], *, most: int
    ) -> PathOverlap | None:
        return path_overlap(self.messages(conversation), path, most)

    def saying(self, text: str, role: Role) -> tuple[tuple[ConversationId, MessageId], ...]:
        rows = self._database.rows(sql.SAYING, text=text, role=role)
        return tuple(
            (ConversationId(id), id_from_key(key)) for id, key, found in rows if found.strip() == text
        )

    # Model calls

    def generations(self, conversation: ConversationId) -> tuple[Generation, ...]:
        rows = self._database.fetch(sql.GENERATIONS, conversation=self._key(conversation))
        return tuple(map(generation_from_row, rows))

    @property
    def is_exclusive(self) -> bool:
        return False

    @property
    def process(self) -> str:
        return self._database.process

    def is_alive(self, process: str) -> bool:
        if process == self._database.process:
            return True
        return self._database.rows(sql.IS_ALIVE, named=process, awake=_AWAKE) == [(True,)]

    def running(self, *, abandoned: bool = False) -> tuple[tuple[ConversationId, GenerationId], ...]:
        if not abandoned:
            return super().running()
        rows = self._database.rows(sql.ABANDONED, process=self._database.process, awake=_AWAKE)
        return tuple((ConversationId(id), GenerationId(call)) for id, call in rows)

    # The Library, and searching

    def conversations(self, *, trashed: bool = False) -> tuple[ConversationSummary, ...]:
        rows = self._database.rows(sql.LIBRARY)
        stale = [
            ConversationId(id)
            for id, version, erasures, *_ in rows
            if self._lines.get(ConversationId(id), ((-1, -1),))[0] != (version, erasures)
        ]
        entries: dict[str, dict[str, tuple[Json, int]]] = {id: {} for id in stale}
        if stale:
            for id, key, value, number in self._database.rows(sql.LINES, conversations=stale):
                entries[id][key] = (json.loads(value), number)
        found: list[ConversationSummary] = []
        for id, version, erasures, created, updated, many in rows:
            here = ConversationId(id)
            if id in entries:
                values = {key: value for key, (value, _) in entries[id].items()}
                numbers = {key: number for key, (_, number) in entries[id].items()}
                line = summary_of(
                    here, values, numbers.__getitem__, created=created, updated=updated, messages=many
                )
                self._lines[here] = ((version, erasures), line)
            else:
                line = self._lines[here][1]
            if line.trashed == trashed:
                found.append(line)
        return tuple(found)

    def _key(self, conversation: ConversationId) -> str:
        self._state(conversation)
        return conversation

    def _searching(
        self, words: Sequence[str], key: Key | None, among: Collection[ConversationId] | None
    ) -> tuple[str, dict[str, Any]]:
        patterns = [f"%{_escaped(word)}%" for word in words]
        chosen = list(among) if among is not None else None
        return sql.SEARCH, {
            "words": list(words),
            "patterns": patterns,
            "conversation": key,
            "among": chosen,
        }

    # What is beside the history

    def _write_blob(self, session: Connection, blob: Blob) -> None:
        given = {"media_type": blob.media_type, "name": blob.name, "content": blob.content}
        session.rows(sql.ADD_BLOB, sha256=blob.sha256, **given)

    def blob(self, sha256: str) -> Blob:
        rows = self._database.fetch(sql.BLOB, sha256=sha256)
        if not rows:
            raise no_blob(sha256)
        (row,) = rows
        if row["outside"] is not None:
            raise content_elsewhere(row["name"], row["outside"])
        return Blob(sha256, row["media_type"], row["name"], bytes(row["content"]))

    def _write_derived(
        self, session: Connection, conversation: ConversationId, entries: Mapping[str, str]
    ) -> None:
        # The lock holds off a purge, so that nothing is left of a conversation that is gone.
        lock(session, conversation)
        given = {"keys": list(entries), "values": list(entries.values())}
        session.rows(sql.KEEP_DERIVED, conversation=conversation, **given)

    def _set_setting(self, session: Connection, key: str, value: NewSetting) -> str | None:
        return set_setting(session, key, value)

    def _purge(self, session: Connection, conversation: ConversationId) -> None:
        lock(session, conversation)
        purge_rows(session, conversation)

    def erase(self, conversation: ConversationId, message: MessageId, *, by: str, at: int) -> Erased:
        touched: list[ConversationId] = []

        def work(connection: Connection) -> Erased:
            done = erase_rows(connection, conversation, message, by, at, process=self.process)
            touched.extend(done.conversations)
            return done

        erased: Erased = self._writer.ask(Alone(work, forgets=touched))
        return erased

    def verify(self, conversation: ConversationId | None = None) -> Verification:
        if conversation is not None:
            self._state(conversation)
        return verify_workspace(self._database, conversation)

    def _write_parquet(self, tables: Path, conversations: Collection[ConversationId] | None) -> None:
        write_analysis_tables(self._database, tables, conversations)

    def make_views(self) -> None:
        make_views(self._database)

    def _health(self, patience: float) -> tuple[bool, bool, int]:
        try:
            ((size,),) = self._database.rows(sql.SIZE)
        except Exception:  # noqa: BLE001 - whatever it is: the database does not answer
            return False, False, 0
        works = self._writer.works()
        return works, works and patience > 0, size

    def close(self) -> None:
        self._writer.close()
        self._others.close()
        self._database.close()


def _rows_of_ranges(
    session: Connection, conversation: str, segments: Sequence[int], depths: Sequence[int]
) -> list[tuple[Any, ...]]:
    return session.rows(sql.PATH, conversation=conversation, segments=list(segments), depths=list(depths))


def _escaped(word: str) -> str:
    """A word as LIKE takes it."""
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
