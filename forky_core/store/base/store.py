"""What the stores in a database do alike: they queue what is written, read by keys, and tell what has changed.

An engine adds its statements, its caches, and what it does in another way.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from forky_core.model import (
    Blob,
    ConversationId,
    Generation,
    GenerationId,
    Hit,
    Message,
    MessageId,
    Operation,
    Reuse,
    Stem,
    View,
)
from forky_core.model.erasure import Erasure
from forky_core.model.parts import Json
from forky_core.store.analysis.copying import make_copy
from forky_core.store.base.reading import Key, read_log, read_reuse, read_stems, read_stretch, read_visible
from forky_core.store.base.rewriting import drop_unnamed_blobs
from forky_core.store.base.session import EngineSession, EngineTables
from forky_core.store.base.writer import Adopt, Alone, GroupWriter, Record
from forky_core.store.contract import Commit, CopyForm, NewSetting, StoreIdentity, StoreStatus
from forky_core.store.erasing import erased_among
from forky_core.store.herald import Heard, Herald
from forky_core.store.message_cache import Cache
from forky_core.store.moving.contract import ConversationPart
from forky_core.store.rows import generation_from_row, id_from_key, uuid_range
from forky_core.store.searching import Candidate, candidate_from_row, search
from forky_core.store.words import search_words


class StoreInDatabase(ABC):
    """Most of a `Store` in one database; safe from any thread."""

    _writer: GroupWriter

    def __init__(self, database: EngineTables) -> None:
        self.identity = StoreIdentity()
        self._tables = database
        self._sql = database.sql
        self._herald = Herald()
        self._cache = Cache()

    @abstractmethod
    def view(self, conversation: ConversationId) -> View:
        """See `Store.view`."""

    @abstractmethod
    def entries(self, key: str) -> Mapping[ConversationId, Json]:
        """See `Store.entries`."""

    @abstractmethod
    def _key(self, conversation: ConversationId) -> Key:
        """What names a conversation in the tables. Raises NotFound for an unknown id."""

    @abstractmethod
    def _searching(
        self, words: Sequence[str], key: Key | None, among: Collection[ConversationId] | None
    ) -> tuple[str, dict[str, Any]]:
        """The statement that finds and ranks messages with all words, and its parameters but for `most` and `skip`."""

    @abstractmethod
    def _write_blob(self, session: Any, blob: Blob) -> None: ...

    @abstractmethod
    def _write_derived(
        self, session: Any, conversation: ConversationId, entries: Mapping[str, str]
    ) -> None: ...

    @abstractmethod
    def _set_setting(self, session: Any, key: str, value: NewSetting) -> str | None: ...

    @abstractmethod
    def _purge(self, session: Any, conversation: ConversationId) -> None: ...

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
        return self._herald.hear(heard)

    def stems(self, conversation: ConversationId) -> Mapping[MessageId, Stem]:
        return read_stems(self._tables, self._key(conversation))

    def stretch(self, conversation: ConversationId, *, after: int, most: int) -> tuple[Message, ...]:
        return read_stretch(self._tables, self._key(conversation), max(after, 0), max(most, 0))

    def stretch_of_log(self, conversation: ConversationId, *, after: int, most: int) -> tuple[Operation, ...]:
        after = max(after, 0)
        last = after + max(most, 0)
        return tuple(read_log(self._tables, self._key(conversation), conversation, after=after, last=last))

    def stretch_of_calls(
        self, conversation: ConversationId, *, after: Generation | None, most: int
    ) -> tuple[Generation, ...]:
        started, id = (after.started, after.id) if after is not None else (-(2**62), "")
        given = {"conversation": self._key(conversation), "started": started, "id": id, "most": max(most, 0)}
        rows = self._tables.fetch(self._sql.CALLS_STRETCH, **given)
        with self._tables.decoding():
            return tuple(map(generation_from_row, rows))

    def match(self, conversation: ConversationId, prefix: str, limit: int = 10) -> tuple[MessageId, ...]:
        key, between = self._key(conversation), uuid_range(prefix)
        if between is None:
            return ()
        low, high = between
        given = {"conversation": key, "low": low, "high": high, "most": max(limit, 0)}
        return tuple(id_from_key(id) for (id,) in self._tables.rows(self._sql.MATCH, **given))

    def reuse(self, conversation: ConversationId | None = None) -> Reuse:
        return read_reuse(self._tables, self._key(conversation) if conversation is not None else None)

    def running(self, *, abandoned: bool = False) -> tuple[tuple[ConversationId, GenerationId], ...]:
        del abandoned  # All are, unless an engine lets other processes write.
        rows = self._tables.rows(self._sql.RUNNING)
        return tuple((ConversationId(id), GenerationId(call)) for id, call in rows)

    def search(
        self,
        words: str,
        *,
        conversation: ConversationId | None = None,
        among: Collection[ConversationId] | None = None,
        limit: int = 50,
    ) -> tuple[Hit, ...]:
        key = self._key(conversation) if conversation is not None else None
        wanted = search_words(words)
        if not wanted:
            return ()
        statement, given = self._searching(wanted, key, among)

        def work(session: EngineSession) -> tuple[Hit, ...]:
            def candidates(skip: int, most: int) -> list[tuple[Any, Candidate]]:
                rows = session.fetch(statement, most=most, skip=skip, **given)
                return [(row["conversation"], candidate_from_row(row, row["owner"])) for row in rows]

            with self._tables.decoding():
                return search(wanted, limit, candidates, lambda keys: read_visible(session, keys))

        return self._tables.at_once(work)

    def put_blob(self, content: bytes, media_type: str, name: str = "") -> str:
        blob = Blob(hashlib.sha256(content).hexdigest(), media_type, name, bytes(content))
        self._writer.ask(Alone(lambda session: self._write_blob(session, blob)))
        return blob.sha256

    def blob_names(self) -> tuple[str, ...]:
        return tuple(sorted(name for (name,) in self._tables.rows(self._sql.BLOB_NAMES)))

    def drop_blobs(self, names: Iterable[str]) -> None:
        wanted = frozenset(names)
        if wanted:
            self._writer.ask(Alone(lambda session: drop_unnamed_blobs(session, wanted)))

    def derived(self, conversation: ConversationId, keys: Iterable[str]) -> Mapping[str, str]:
        wanted = list(dict.fromkeys(keys))
        return dict(self._tables.rows(self._sql.DERIVED, conversation=self._key(conversation), keys=wanted))

    def derived_keys(self, conversation: ConversationId) -> tuple[str, ...]:
        rows = self._tables.rows(self._sql.DERIVED_KEYS, conversation=self._key(conversation))
        return tuple(sorted(key for (key,) in rows))

    def derived_under(self, key: str) -> Mapping[ConversationId, str]:
        rows = self._tables.rows(self._sql.DERIVED_UNDER, key=key)
        return {ConversationId(id): str(value) for id, value in rows}

    def keep_derived(
        self, conversation: ConversationId, entries: Mapping[str, str], *, waits: bool = True
    ) -> None:
        give = self._writer.ask if waits else self._writer.tell
        give(Alone(lambda session: self._write_derived(session, conversation, entries)))

    def forget_derived(self, key: str) -> None:
        self._writer.ask(Alone(lambda session: session.rows(self._sql.FORGET_DERIVED, key=key)))

    def setting(self, key: str) -> str | None:
        rows = self._tables.rows(self._sql.SETTING, key=key)
        return str(rows[0][0]) if rows else None

    def settings_of(self, keys: Iterable[str]) -> Mapping[str, str]:
        return dict(self._tables.rows(self._sql.SETTINGS_OF, keys=list(dict.fromkeys(keys))))

    def settings(self) -> Mapping[str, str]:
        return dict(self._tables.rows(self._sql.SETTINGS))

    def set_setting(self, key: str, value: NewSetting) -> str | None:
        made: str | None = self._writer.ask(Alone(lambda session: self._set_setting(session, key, value)))
        return made

    def purge(self, conversation: ConversationId) -> None:
        purging = Alone(lambda session: self._purge(session, conversation), forgets=[conversation])
        self._writer.ask(purging)

    def is_taken(self, conversation: ConversationId) -> bool:
        del conversation
        return False  # It shows all that it has.

    def erased_of(
        self, conversation: ConversationId, messages: Iterable[MessageId]
    ) -> Mapping[MessageId, Erasure]:
        return erased_among(self.entries, self.view, conversation, messages)

    @abstractmethod
    def _write_parquet(self, tables: Path, conversations: Collection[ConversationId] | None) -> None:
        """Write each table of docs/analysis.md to `<table>.parquet` in this folder, all as of one moment."""

    def write_tables(
        self,
        folder: Path,
        form: CopyForm,
        conversations: Collection[ConversationId] | None = None,
    ) -> Path:
        tables = folder / "tables"
        tables.mkdir()
        self._write_parquet(tables, conversations)
        return make_copy(tables, folder, form)

    @abstractmethod
    def _health(self, patience: float) -> tuple[bool, bool, int]:
        """Whether the store writes, whether it answered within so many seconds, and its bytes on disk."""

    def status(self, patience: float = 0.0) -> StoreStatus:
        cached, conversations, limit = self._cache.size()
        writes, answered, size = self._health(patience)
        return StoreStatus(
            writes=writes,
            answered=answered,
            busy=self._writer.busy(),
            waiting=self._writer.waiting(),
            cached_bytes=cached,
            cached_conversations=conversations,
            cache_limit=limit,
            size=size,
        )

    @abstractmethod
    def close(self) -> None:
        """See `Store.close`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
