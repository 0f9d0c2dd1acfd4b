"""Conversations in PostgreSQL, in one workspace of it: the store of a team that outgrows one machine.

Several processes use one database at once. So nothing that a process remembers is believed without a look at the
version, or at how often something was erased, which is one row by its key. Messages never change but by an erasure, and
are read once. Writes go through one thread (writer.py). Every law of the contract is proven by tests/store/laws/.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any, Self

from forky_core.model import (
    Blob,
    ConversationId,
    ConversationSummary,
    Generation,
    GenerationId,
    Hit,
    Message,
    MessageId,
    Operation,
    PathOverlap,
    Reuse,
    Role,
    Stem,
    Usage,
    View,
)
from forky_core.model.erasure import Erasure
from forky_core.model.parts import Json
from forky_core.process import events
from forky_core.process.scheduling import gc_paused
from forky_core.store.analysis.analysed_store import AnalysedStore
from forky_core.store.base.writer import Adopt, Alone, Record
from forky_core.store.contract import (
    Commit,
    Erased,
    StoreIdentity,
    StoreStatus,
    Talk,
    Verification,
)
from forky_core.store.deciding import content_elsewhere, no_blob, no_conversation, no_message, reuse_of
from forky_core.store.erasing import erased_among
from forky_core.store.herald import Heard, Herald
from forky_core.store.message_cache import CACHE_BYTES, Cache, CachedMessages
from forky_core.store.moving.contract import ConversationPart
from forky_core.store.path_matching import path_overlap
from forky_core.store.postgresql import statements as sql
from forky_core.store.postgresql.analysis import write_analysis_tables
from forky_core.store.postgresql.connection import Connection, fetch, run
from forky_core.store.postgresql.connections import MOST_CONNECTIONS
from forky_core.store.postgresql.database import Database, connect_to
from forky_core.store.postgresql.documents import PostgresDocuments
from forky_core.store.postgresql.other_processes import OtherProcesses
from forky_core.store.postgresql.rewriting import (
    change_setting,
    drop_unnamed_blobs,
    erase_rows,
    purge_rows,
    write_setting,
)
from forky_core.store.postgresql.talk import TopicTalk
from forky_core.store.postgresql.texts import kept, said
from forky_core.store.postgresql.verify import verify_workspace
from forky_core.store.postgresql.views import make_views
from forky_core.store.postgresql.writer import ServerWriter
from forky_core.store.rows import (
    Row,
    generation_from_row,
    id_from_key,
    id_key,
    is_whole,
    message_from_row,
    operations_from_rows,
    uuid_range,
)
from forky_core.store.searching import Candidate, candidate_from_row, search
from forky_core.store.segments import Origin, ranges
from forky_core.store.summary import summary_of
from forky_core.store.visible import Merge, Place, VisibleRows, reveal
from forky_core.store.words import search_words

FIRST = "main"
"""The workspace of whoever names none."""
_SHORT = 4000
"""Messages up to which a conversation is read whole when one of its paths is wanted."""
_AWAKE = 15
"""Seconds that a server must be up before a reply is taken over: who writes one could not say before that they live."""
_LOGS = 200
"""Conversations whose logs are remembered."""


class PostgresStore(AnalysedStore):
    """A `Store` in one workspace of a PostgreSQL database, which other processes may write, too."""

    def __init__(self, database: Database, *, cache_bytes: int = CACHE_BYTES) -> None:
        """Use a database that is connected; see `open`."""
        self.identity = StoreIdentity()
        self._database = database
        self._herald = Herald()
        self._cache = Cache(cache_bytes)
        self._lock = Lock()
        self._erasures: dict[ConversationId, int] = {}
        """How often something had been erased in each conversation when its messages were cached."""
        self._views: dict[ConversationId, View] = {}
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
        cache_bytes: int = CACHE_BYTES,
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
        store = cls(database, cache_bytes=cache_bytes)
        events.store_opened(size=store.status().size, seconds=time.perf_counter() - begun)
        return store

    @property
    def server(self) -> str:
        return self._database.name

    def commit(self, commit: Commit) -> Operation:
        operation: Operation = self._writer.ask(commit)
        return operation

    def commit_all(self, commits: Sequence[Commit]) -> tuple[Operation, ...]:
        return tuple(self._writer.ask_all(commits))

    def adopt(self, parts: Sequence[ConversationPart]) -> None:
        self._writer.ask(Adopt(tuple(parts)))

    def record(self, conversation: ConversationId, generation: Generation) -> None:
        self._writer.ask(Record(conversation, generation))

    def hear(self, heard: Heard) -> Callable[[], None]:
        self._others.listen()
        return self._herald.hear(heard)

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
        self._views.pop(conversation, None)
        self._logs.pop(conversation, None)
        self._lines.pop(conversation, None)

    def _rows(self, statement: str, **given: object) -> list[tuple[Any, ...]]:
        return self._database.rows(statement, workspace=self._database.workspace, **given)

    def _fetch(self, statement: str, **given: object) -> list[Row]:
        return self._database.fetch(statement, workspace=self._database.workspace, **given)

    def _run(self, connection: Connection, statement: str, **given: object) -> list[tuple[Any, ...]]:
        return run(connection, statement, workspace=self._database.workspace, **given)

    def _state(self, conversation: ConversationId) -> tuple[int, int, int]:
        """Messages, erasures and version of a conversation, now. Raises NotFound for an unknown id."""
        rows = self._rows(sql.STATE, conversation=conversation)
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
        held = self._views.get(conversation)
        if held is not None and self._state(conversation)[2] == held.version:
            return held
        rows = self._rows(sql.VIEW, conversation=conversation)
        if not rows:
            raise no_conversation(conversation)
        entries = {said(key): json.loads(value) for _, key, value in rows if key is not None}
        view = View(MappingProxyType(entries), rows[0][0])
        with self._lock:
            known = self._views.get(conversation)
            if known is None or known.version < view.version:
                self._views[conversation] = view
            elif known.version == view.version:
                return known
        return view

    def entries(self, key: str) -> Mapping[ConversationId, Json]:
        rows = self._rows(sql.ENTRIES_NAMED, key=kept(key))
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
            return tuple(self._log(conversation, first, version))
        if len(log) < version:
            log.extend(self._log(conversation, len(log) + 1, version, log[-1].id if log else None))
            with self._lock:
                self._logs[conversation] = (erasures, log)
                self._logs.move_to_end(conversation)
                while len(self._logs) > _LOGS:
                    self._logs.popitem(last=False)
        return tuple(log[first - 1 : version])

    def _log(
        self, conversation: ConversationId, first: int, last: int, previous: str | None = None
    ) -> list[Operation]:
        """Operations from number `first` to `last`; `previous` is the id of the one before, if it is known."""
        if first > last:
            return []
        # The one before the first is read too, because each holds the id of its predecessor.
        begin = first if previous is not None or first == 1 else first - 1
        rows = self._fetch(sql.OPERATIONS, conversation=conversation, first=begin, last=last)
        found = operations_from_rows(conversation, rows, previous)
        return found[first - begin :]

    def stretch_of_log(self, conversation: ConversationId, *, after: int, most: int) -> tuple[Operation, ...]:
        _, _, version = self._state(conversation)
        after = max(after, 0)
        return tuple(self._log(conversation, after + 1, min(version, after + max(most, 0))))

    # Messages

    def message(self, conversation: ConversationId, message: MessageId) -> Message:
        shelf, _ = self._shelf(conversation)
        known = shelf.known.get(message)
        if known is None:
            known = self._message(conversation, message)
            (known,) = shelf.keep([known])
        return known

    def _message(self, conversation: ConversationId, message: MessageId) -> Message:
        def read(connection: Connection) -> Message:
            here = {"conversation": conversation}
            rows = self._run(connection, sql.MESSAGE, id=id_key(message), **here) if is_whole(message) else []
            if not rows:
                raise no_message(message)
            ((_, key, parent, role, text, rest, created),) = rows
            numbers = [parent] if parent is not None else []
            above = self._run(connection, sql.NUMBERED, numbers=numbers, **here) if numbers else []
            parent_id = id_from_key(above[0][1]) if above else None
            return message_from_row(MessageId(key), parent_id, role, said(text), rest, created)

        return self._database.reading(read)

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
        for _, key, parent, role, text, rest, created in self._rows(
            sql.MESSAGES, conversation=conversation, after=after
        ):
            id = MessageId(key)
            message = known.get(id)
            if message is None:
                above = ids[parent - 1] if parent is not None else None
                message = message_from_row(id, above, role, said(text), rest, created)
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
            path = tuple(shelf.keep(self._path(conversation, head)))
        self._cache.trim()
        return path

    @gc_paused()
    def _path(self, conversation: ConversationId, head: MessageId) -> list[Message]:
        here = {"conversation": conversation}

        def read(connection: Connection) -> list[tuple[Any, ...]]:
            place = self._run(connection, sql.PLACE, id=id_key(head), **here) if is_whole(head) else []
            if not place:
                raise no_message(head)
            rows = self._run(connection, sql.SEGMENTS, **here)
            origins: dict[int, Origin] = {segment: (parent, depth) for segment, parent, depth in rows}
            segments, depths = ranges(place[0][0], place[0][1], origins)
            return self._run(connection, sql.PATH, segments=segments, depths=depths, **here)

        path: list[Message] = []
        parent: MessageId | None = None
        for _, key, role, text, rest, created in self._database.reading(read):
            id = MessageId(key)
            path.append(message_from_row(id, parent, role, said(text), rest, created))
            parent = id
        return path

    def stems(self, conversation: ConversationId) -> Mapping[MessageId, Stem]:
        self._state(conversation)
        ids: dict[int, MessageId] = {}
        found: dict[MessageId, Stem] = {}
        for number, key, parent, created, rest in self._rows(sql.STEMS, conversation=conversation):
            id = ids[number] = id_from_key(key)
            parents = (ids[parent],) if parent is not None else ()
            more = json.loads(rest) if rest is not None else {}
            found[id] = Stem((*parents, *more.get("parents", ())), created, bool(more.get("hidden")))
        return found

    def stretch(self, conversation: ConversationId, *, after: int, most: int) -> tuple[Message, ...]:
        self._state(conversation)
        after = max(after, 0)
        here = {"conversation": conversation}
        rows = self._rows(sql.STRETCH, after=after, last=after + max(most, 0), **here)
        ids = {row[0]: MessageId(row[1]) for row in rows}
        elsewhere = sorted({row[2] for row in rows if row[2] is not None and row[2] not in ids})
        if elsewhere:
            named = self._rows(sql.NUMBERED, numbers=elsewhere, **here)
            ids.update((number, id_from_key(key)) for number, key in named)
        return tuple(
            message_from_row(
                ids[number], ids[parent] if parent is not None else None, role, said(text), rest, created
            )
            for number, _, parent, role, text, rest, created in rows
        )

    def at_hand(self, conversation: ConversationId) -> bool:
        shelf, many = self._shelf(conversation)
        found = shelf.snapshot()
        return found is not None and len(found) >= many

    def path_overlap(
        self, conversation: ConversationId, path: Sequence[MessageId], *, most: int
    ) -> PathOverlap | None:
        return path_overlap(self.messages(conversation), path, most)

    def match(self, conversation: ConversationId, prefix: str, limit: int = 10) -> tuple[MessageId, ...]:
        self._state(conversation)
        between = uuid_range(prefix)
        if between is None:
            return ()
        low, high = between
        rows = self._rows(sql.MATCH, conversation=conversation, low=low, high=high, most=max(limit, 0))
        return tuple(id_from_key(key) for (key,) in rows)

    def saying(self, text: str, role: Role) -> tuple[tuple[ConversationId, MessageId], ...]:
        rows = self._rows(sql.SAYING, text=kept(text), role=role)
        return tuple(
            (ConversationId(id), id_from_key(key)) for id, key, found in rows if said(found).strip() == text
        )

    # Model calls

    def generations(self, conversation: ConversationId) -> tuple[Generation, ...]:
        self._state(conversation)
        return self._calls(sql.GENERATIONS, conversation=conversation)

    def _calls(self, statement: str, **given: object) -> tuple[Generation, ...]:
        return tuple(generation_from_row(row) for row in self._fetch(statement, **given))

    def stretch_of_calls(
        self, conversation: ConversationId, *, after: Generation | None, most: int
    ) -> tuple[Generation, ...]:
        self._state(conversation)
        started, id = (after.started, after.id) if after is not None else (-(2**62), "")
        return self._calls(
            sql.CALLS_STRETCH, conversation=conversation, started=started, id=id, most=max(most, 0)
        )

    def reuse(self, conversation: ConversationId | None = None) -> Reuse:
        if conversation is not None:
            self._state(conversation)
        looked = [
            (id, rest.get("reused"))
            for id, text in self._rows(sql.LOOKED)
            if conversation in (None, id) and (rest := json.loads(text)).get("looked") is True
        ]
        hits = [(id, reused) for id, reused in looked if reused is not None]
        given = {"conversations": [id for id, _ in hits], "ids": [reused for _, reused in hits]}
        took = {
            (id, call): Usage(prompt, completion, cost=cost)
            for id, call, prompt, completion, cost in self._rows(sql.TOOK, **given)
        }
        return reuse_of((took.get((id, reused)), reused is not None) for id, reused in looked)

    def running(self) -> tuple[tuple[ConversationId, GenerationId], ...]:
        return tuple((ConversationId(id), GenerationId(call)) for id, call in self._rows(sql.RUNNING))

    @property
    def is_exclusive(self) -> bool:
        return False

    @property
    def process(self) -> str:
        return self._database.process

    def is_alive(self, process: str) -> bool:
        if process == self._database.process:
            return True
        return self._rows(sql.IS_ALIVE, named=kept(process), awake=_AWAKE) == [(True,)]

    def abandoned(self) -> tuple[tuple[ConversationId, GenerationId], ...]:
        rows = self._rows(sql.ABANDONED, process=self._database.process, awake=_AWAKE)
        return tuple((ConversationId(id), GenerationId(call)) for id, call in rows)

    # The Library, and searching

    def conversations(self, *, trashed: bool = False) -> tuple[ConversationSummary, ...]:
        rows = self._rows(sql.LIBRARY)
        stale = [
            ConversationId(id)
            for id, version, erasures, *_ in rows
            if self._lines.get(ConversationId(id), ((-1, -1),))[0] != (version, erasures)
        ]
        entries: dict[str, dict[str, tuple[Json, int]]] = {id: {} for id in stale}
        if stale:
            for id, key, value, number in self._rows(sql.LINES, conversations=stale):
                entries[id][said(key)] = (json.loads(value), number)
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

    def search(
        self,
        words: str,
        *,
        conversation: ConversationId | None = None,
        among: Collection[ConversationId] | None = None,
        limit: int = 50,
    ) -> tuple[Hit, ...]:
        if conversation is not None:
            self._state(conversation)
        wanted = search_words(words)
        if not wanted:
            return ()
        return self._database.snapshot(
            lambda connection: self._search(connection, wanted, conversation, among, limit)
        )

    def _search(
        self,
        connection: Connection,
        words: Sequence[str],
        conversation: ConversationId | None,
        among: Collection[ConversationId] | None,
        limit: int,
    ) -> tuple[Hit, ...]:
        given = {
            "words": [kept(word) for word in words],
            "patterns": [f"%{_escaped(kept(word))}%" for word in words],
            "conversation": conversation,
            "among": list(among) if among is not None else None,
        }

        def candidates(skip: int, most: int) -> list[tuple[str, Candidate]]:
            workspace = self._database.workspace
            rows = fetch(connection, sql.SEARCH, workspace=workspace, most=most, skip=skip, **given)
            return [(row["conversation"], candidate_from_row(row, row["conversation"])) for row in rows]

        return search(words, limit, candidates, lambda ids: self._visible(connection, list(ids)))

    def _visible(self, connection: Connection, conversations: list[str]) -> dict[str, VisibleRows]:
        given = {"conversations": conversations}
        entries: dict[str, dict[str, Json]] = {id: {} for id in conversations}
        for id, key, value in self._run(connection, sql.ENTRIES_OF, **given):
            entries[id][said(key)] = json.loads(value)
        seen = {id: VisibleRows(View(MappingProxyType(entries[id]), 0)) for id in conversations}
        for id, segment, parent, depth in self._run(connection, sql.SEGMENTS_OF, **given):
            seen[id].origins[segment] = (parent, depth)
        merges = [
            Merge(id, segment, depth, tuple(json.loads(rest).get("parents", ())))
            for id, segment, depth, rest in self._run(connection, sql.MERGES_OF, **given)
        ]

        def places_of(wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Place]:
            pairs = sorted({pair for pair in wanted if is_whole(pair[1])})
            named = {"conversations": [id for id, _ in pairs], "ids": [id_key(one) for _, one in pairs]}
            rows = self._run(connection, sql.PLACES_OF, **named)
            return {(id, id_from_key(key)): (segment, depth) for id, key, segment, depth in rows}

        reveal(seen, merges, places_of)
        return seen

    # What is beside the history

    def put_blob(self, content: bytes, media_type: str, name: str = "") -> str:
        sha256 = hashlib.sha256(content).hexdigest()
        given = {
            "sha256": sha256,
            "media_type": kept(media_type),
            "name": kept(name),
            "content": bytes(content),
        }
        self._writer.ask(Alone(lambda connection: self._run(connection, sql.ADD_BLOB, **given)))
        return sha256

    def blob(self, sha256: str) -> Blob:
        rows = self._fetch(sql.BLOB, sha256=kept(sha256))
        if not rows:
            raise no_blob(sha256)
        (row,) = rows
        if row["outside"] is not None:
            raise content_elsewhere(row["name"], row["outside"])
        return Blob(sha256, row["media_type"], row["name"], bytes(row["content"]))

    def blob_names(self) -> tuple[str, ...]:
        return tuple(said(sha256) for (sha256,) in self._rows(sql.BLOB_NAMES))

    def drop_blobs(self, names: Iterable[str]) -> None:
        wanted = frozenset(names)
        if wanted:
            workspace = self._database.workspace
            self._writer.ask(Alone(lambda connection: drop_unnamed_blobs(connection, workspace, wanted)))

    def derived(self, conversation: ConversationId, keys: Iterable[str]) -> Mapping[str, str]:
        self._state(conversation)
        wanted = [kept(key) for key in dict.fromkeys(keys)]
        rows = self._rows(sql.DERIVED, conversation=conversation, keys=wanted)
        return {said(key): said(value) for key, value in rows}

    def derived_keys(self, conversation: ConversationId) -> tuple[str, ...]:
        self._state(conversation)
        return tuple(sorted(said(key) for (key,) in self._rows(sql.DERIVED_KEYS, conversation=conversation)))

    def derived_under(self, key: str) -> Mapping[ConversationId, str]:
        rows = self._rows(sql.DERIVED_UNDER, key=kept(key))
        return {ConversationId(id): said(value) for id, value in rows}

    def keep_derived(
        self, conversation: ConversationId, entries: Mapping[str, str], *, waits: bool = True
    ) -> None:
        given = {"keys": [*map(kept, entries)], "values": [*map(kept, entries.values())]}

        def work(connection: Connection) -> None:
            # The lock holds off a purge, so that nothing is left of a conversation that is gone.
            if not self._run(connection, sql.LOCK, conversation=conversation):
                raise no_conversation(conversation)
            self._run(connection, sql.KEEP_DERIVED, conversation=conversation, **given)

        give = self._writer.ask if waits else self._writer.tell
        give(Alone(work))

    def forget_derived(self, key: str) -> None:
        self._writer.ask(Alone(lambda connection: self._run(connection, sql.FORGET_DERIVED, key=kept(key))))

    def setting(self, key: str) -> str | None:
        rows = self._rows(sql.SETTING, key=kept(key))
        return said(rows[0][0]) if rows else None

    def settings_of(self, keys: Iterable[str]) -> Mapping[str, str]:
        rows = self._rows(sql.SETTINGS_OF, keys=[kept(key) for key in keys])
        return {said(key): said(value) for key, value in rows}

    def settings(self) -> Mapping[str, str]:
        return {said(key): said(value) for key, value in self._rows(sql.SETTINGS)}

    def set_setting(self, key: str, value: str | None) -> None:
        workspace = self._database.workspace
        self._writer.ask(Alone(lambda connection: write_setting(connection, workspace, key, value)))

    def change_setting(self, key: str, change: Callable[[str | None], str | None]) -> str | None:
        workspace = self._database.workspace
        changed: str | None = self._writer.ask(
            Alone(lambda connection: change_setting(connection, workspace, key, change))
        )
        return changed

    def purge(self, conversation: ConversationId) -> None:
        workspace = self._database.workspace
        purging = Alone(
            lambda connection: purge_rows(connection, workspace, conversation), forgets=[conversation]
        )
        self._writer.ask(purging)

    def erase(self, conversation: ConversationId, message: MessageId, *, by: str, at: int) -> Erased:
        touched: list[ConversationId] = []
        workspace = self._database.workspace

        def work(connection: Connection) -> Erased:
            done = erase_rows(connection, workspace, conversation, message, by, at, process=self.process)
            touched.extend(done.conversations)
            return done

        erased: Erased = self._writer.ask(Alone(work, forgets=touched))
        return erased

    def is_taken(self, conversation: ConversationId) -> bool:
        del conversation
        return False  # It shows all that it has.

    def erased_of(
        self, conversation: ConversationId, messages: Iterable[MessageId]
    ) -> Mapping[MessageId, Erasure]:
        return erased_among(self, conversation, messages)

    def verify(self, conversation: ConversationId | None = None) -> Verification:
        if conversation is not None:
            self._state(conversation)
        return verify_workspace(self._database, conversation)

    def _write_parquet(self, tables: Path, conversations: Collection[ConversationId] | None) -> None:
        write_analysis_tables(self._database, tables, conversations)

    def make_views(self) -> None:
        make_views(self._database)

    def status(self, patience: float = 0.0) -> StoreStatus:
        cached, conversations, limit = self._cache.size()
        try:
            ((size,),) = self._database.rows(sql.SIZE)
            reached = True
        except Exception:  # noqa: BLE001 - whatever it is: the database does not answer
            size, reached = 0, False
        works = self._writer.works() and reached
        return StoreStatus(
            writes=works,
            answered=works and patience > 0,
            busy=self._writer.busy(),
            waiting=self._writer.waiting(),
            cached_bytes=cached,
            cached_conversations=conversations,
            cache_limit=limit,
            size=size,
        )

    def close(self) -> None:
        self._writer.close()
        self._others.close()
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _escaped(word: str) -> str:
    """A word as LIKE takes it."""
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
