"""Conversations in one DuckDB file: the store for a person's laptop and a small team.

Writes go through one thread (write/writer.py), reads take a cursor of their own (file/database.py), and messages, which
never change, are read once (message_cache.py); what pages need on every run is cached and updated by the writer. Every
law of the contract is proven by tests/store/laws/ and by comparison with memory/store.py.
"""

from __future__ import annotations

import atexit
import json
import os
import secrets
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any
from weakref import WeakSet

from forky_core.model import (
    Blob,
    ConversationId,
    ConversationSummary,
    Generation,
    Message,
    MessageId,
    Operation,
    PathOverlap,
    Role,
    View,
)
from forky_core.model.errors import NotFound, StoreDamaged, StoreError
from forky_core.model.parts import Json
from forky_core.process import events
from forky_core.process.private_files import make_folder
from forky_core.store.analysis import views
from forky_core.store.analysis.tables import write_tables
from forky_core.store.auditing import message_findings
from forky_core.store.base.reading import Key, read_log, read_message, read_path
from forky_core.store.base.rewriting import purge_rows
from forky_core.store.base.store import StoreInDatabase
from forky_core.store.base.views import Views
from forky_core.store.base.writer import Adopt, Alone, Record, Rest
from forky_core.store.contract import Commit, Erased, NewSetting, Verification
from forky_core.store.deciding import no_blob, no_conversation, no_message
from forky_core.store.duckdb import statements as sql
from forky_core.store.duckdb.cache.library import Library, summaries
from forky_core.store.duckdb.cache.logs import Logs
from forky_core.store.duckdb.cache.numbers import Numbers
from forky_core.store.duckdb.cache.text_index import TextIndex
from forky_core.store.duckdb.documents import FiledDocuments
from forky_core.store.duckdb.file.backup import back_up
from forky_core.store.duckdb.file.database import DatabaseFile, place_of
from forky_core.store.duckdb.file.migrations import MIGRATIONS, Migration, migrate
from forky_core.store.duckdb.read.messages import (
    read_all_calls,
    read_messages,
    read_path_overlap,
    rows_of_ranges,
)
from forky_core.store.duckdb.read.packs import BadPack, drop_packs
from forky_core.store.duckdb.read.verify import verify_file
from forky_core.store.duckdb.running import FileSession, execute, insert, write_setting
from forky_core.store.duckdb.write.batch import replacing_derived
from forky_core.store.duckdb.write.erasing import erase_rows
from forky_core.store.duckdb.write.ledger import stored_entries
from forky_core.store.duckdb.write.staging import FileGroup
from forky_core.store.duckdb.write.writer import ERASED_BYTES, IDLE_SECONDS, Done, FileWriter
from forky_core.store.path_matching import path_overlap
from forky_core.store.rows import id_from_key

_SHORT = 4000
"""Messages up to which a conversation is read whole when one of its paths is wanted: one scan in place of three, and
the rest of it is usually wanted next.
"""

_FEW = 16
"""Conversations up to which views are read one by one instead of scanning all entries."""


_BLOB = ("sha256", "media_type", "name", "content")


class DuckDBStore(StoreInDatabase):
    """A `Store` in one file that this process alone may write."""

    _writer: FileWriter

    def __init__(self, file: DatabaseFile, *, idle_seconds: float = IDLE_SECONDS) -> None:
        """Use a file that is open and has the newest schema; see `open`."""
        file.ready = True
        super().__init__(file)
        self.is_exclusive = True
        self.process = secrets.token_hex(8)
        self._file = file
        self._views = Views()
        self._logs = Logs()
        self._library = Library()
        self._numbers = Numbers(file)
        self._keys: dict[str, TextIndex] = {}
        self._erasing = Lock()
        self._erased_in: tuple[ConversationId, ...] = ()
        """The conversations that are being rewritten, in contrast to those that are purged."""
        self._writer = FileWriter(file, self._published, self._forgotten, idle_seconds=idle_seconds)
        self.documents = FiledDocuments(file, self._writer)
        _open_stores.add(self)

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        idle_seconds: float = IDLE_SECONDS,
        migrations: Sequence[Migration] = MIGRATIONS,
    ) -> DuckDBStore:
        """Open or create the file, including its folder, and migrate it to the newest schema.

        Raises:
            StoreBusy: another process, or this one, has it open.
            StoreDamaged, StoreFull, StoreTooNew: the file was left as it is.
            StoreError: there can be no file of that name.
        """
        begun, place = time.perf_counter(), place_of(path)
        try:
            make_folder(place.parent)
        except OSError as error:
            raise StoreError(f"The folder {place.parent} cannot be made: {error.strerror}.") from error
        file = DatabaseFile(place)
        try:
            migrate(file, migrations)
        except BaseException:
            file.close()
            raise
        store = cls(file, idle_seconds=idle_seconds)
        events.store_opened(size=file.size(), seconds=time.perf_counter() - begun)
        return store

    @property
    def location(self) -> Path:
        return self._file.path

    def _published(self, staged: FileGroup, done: Sequence[Done]) -> None:
        for id in staged.born - staged.in_bulk:
            self._cache.shelf(id).complete(())
        for id, messages in staged.fresh.items():
            shelf = self._cache.cached(id) if id in staged.in_bulk else self._cache.shelf(id)
            if shelf is not None:
                shelf.publish(messages)
            if id not in staged.in_bulk or self._views.find(id) is not None:
                self._views.keep(id, staged.touched[id].view())
        for request, result in done:
            match request:
                case Commit(conversation=id, generations=generations):
                    self._logs.publish(id, result, generations)
                    self._note_keys(result, staged.touched[id].conversation)
                case Record(conversation=id, generation=generation):
                    self._logs.publish(id, None, (generation,))
                case Adopt(parts=parts):
                    for part in parts:
                        self._logs.drop(part.conversation)
                        for operation in part.operations:
                            self._note_keys(operation, staged.touched[part.conversation].conversation)
        if self._library.wanted:
            self._library.publish(staged.touched[id].summary() for id in staged.fresh)
        self._cache.trim()
        self._herald.tell(staged.fresh)

    def _note_keys(self, operation: Operation, number: int) -> None:
        for change in operation.changes:
            known = self._keys.get(change.key.partition("/")[0])
            if known is not None:
                known.note(change.key, number)

    def _forgotten(self, conversation: ConversationId) -> None:
        self._views.drop(conversation)
        self._cache.drop(conversation)
        self._numbers.drop(conversation)
        self._logs.drop(conversation)
        if conversation in self._erased_in:
            self._library.forget()
            self._keys.clear()
        else:
            self._library.drop(conversation)
        self._herald.tell([conversation])

    def view(self, conversation: ConversationId) -> View:
        held = self._views.find(conversation)
        if held is not None:
            return held
        purges = self._views.purges
        number = self._numbers.of(conversation)
        rows = self._file.rows(sql.VIEW, conversation=number)
        self._writer.wait_for_publication()
        with self._file.decoding():
            ((_, _, version),) = (row for row in rows if row[0] is None)
            entries = stored_entries(row for row in rows if row[0] is not None)
        if version is None:
            raise no_conversation(conversation)
        view = View(MappingProxyType(entries), version)
        return self._views.keep(conversation, view, purges)

    def entries(self, key: str) -> Mapping[ConversationId, Json]:
        kind, slash, _ = key.partition("/")
        with self._file.decoding():
            numbers = self._keys_of(kind).numbers(key) if slash else None
        if numbers is None or len(numbers) > _FEW:
            return self._stored_entries(key)
        found: dict[ConversationId, Json] = {}
        for id in self._numbers.ids(numbers).values():
            try:
                value = self.view(id).entries.get(key)
            except NotFound:
                continue  # It was purged just now.
            if value is not None:
                found[id] = value
        return found

    def _stored_entries(self, key: str) -> Mapping[ConversationId, Json]:
        while True:
            purges = self._numbers.purges
            rows = self._file.rows(sql.ENTRIES_NAMED, key=key)
            ids = self._numbers.ids(number for number, _ in rows)
            if purges == self._numbers.purges:
                with self._file.decoding():
                    return {ids[number]: json.loads(value) for number, value in rows if number in ids}

    def _keys_of(self, kind: str) -> TextIndex:
        """The index of keys that begin with `kind` and a slash."""
        known = self._keys.get(kind)
        if known is None:
            pattern = f"{kind}/%"
            made = TextIndex(lambda: self._file.rows(sql.KEYS_LIKE, pattern=pattern))
            known = self._keys.setdefault(kind, made)
        return known

    def operations(
        self, conversation: ConversationId, *, after: int = 0, limit: int | None = None
    ) -> tuple[Operation, ...]:
        number = self._numbers.of(conversation)
        log, _ = self._logs.of(conversation)
        found = log.later(after, limit)
        if found is None:
            version = self.view(conversation).version
            first = max(after + 1, 1) if limit is None else max(after + 1, version - limit + 1, 1)
            read = read_log(self._file, number, conversation, after=min(first, version) - 1)
            self._writer.wait_for_publication()
            if not read:
                raise no_conversation(conversation)
            log.complete(read)
            found = log.later(after, limit)
            assert found is not None
        return found

    def path(self, conversation: ConversationId, head: MessageId) -> tuple[Message, ...]:
        shelf = self._cache.shelf(conversation)
        path = shelf.path(head)
        if path is not None:
            return path
        number = self._numbers.of(conversation)
        if not shelf.long:
            everything = self._messages(conversation, _SHORT)
            shelf.long = everything is None
            if everything is not None:
                shelf.complete(everything)
        path = shelf.path(head)
        if path is not None:
            self._cache.trim()
            return path
        read = read_path(self._file, number, head, rows_of_ranges)
        if read is None:
            raise no_message(head)
        path = tuple(shelf.keep(read))
        self._cache.trim()
        return path

    def message(self, conversation: ConversationId, message: MessageId) -> Message:
        shelf = self._cache.shelf(conversation)
        known = shelf.known.get(message)
        if known is None:
            known = read_message(self._file, self._numbers.of(conversation), message)
            if known is None:
                raise no_message(message)
            (known,) = shelf.keep([known])
        return known

    def messages(self, conversation: ConversationId) -> Mapping[MessageId, Message]:
        shelf = self._cache.shelf(conversation)
        snapshot = shelf.snapshot()
        if snapshot is None:
            with shelf.loading:
                if shelf.snapshot() is None:
                    found = self._messages(conversation, known=shelf.known)
                    shelf.complete(found or ())
            self._cache.trim()
            snapshot = shelf.snapshot()
            assert snapshot is not None
        return snapshot

    def _messages(
        self,
        conversation: ConversationId,
        most: int | None = None,
        known: Mapping[MessageId, Message] = MappingProxyType({}),
    ) -> list[Message] | None:
        """Read messages like `read_messages`; if a pack is damaged, read them from their own table.

        Such a pack is dropped and rebuilt if the messages match their ids: it is derived from them, and nothing is
        lost. If they do not, the file is damaged and the pack is preserved, as it may hold more.
        """
        number, whole = self._numbers.of(conversation), self._writer.whole
        try:
            found = read_messages(self._file, number, whole, most, known)
        except BadPack:
            found = read_messages(self._file, number, None, most)
            if found is not None and any(message_findings(found, self.view(conversation).erasures)):
                self._file.distrust()
            elif found is not None:
                self._distrust(number)
            return found
        except StoreDamaged:
            # Perhaps only the packs cannot be read: try the messages alone.
            return read_messages(self._file, number, None, most)
        if whole.wanted and not whole.learned:
            self._writer.tell(Alone(lambda session: whole.learn(session.cursor)))
        return found

    def _distrust(self, number: int) -> None:
        """Have the packs of a conversation dropped; they are rebuilt when the writer is idle."""

        def drop(session: FileSession) -> None:
            self._writer.whole.discard(number)
            drop_packs(session.cursor, number)

        self._writer.tell(Alone(drop))

    def at_hand(self, conversation: ConversationId) -> bool:
        if self._in_memory(conversation) is not None:
            return True
        return self._numbers.of(conversation) in self._writer.whole

    def _in_memory(self, conversation: ConversationId) -> Mapping[MessageId, Message] | None:
        """All cached messages of a conversation; None if some are only in the file."""
        shelf = self._cache.cached(conversation)
        return shelf.snapshot() if shelf is not None else None

    def path_overlap(
        self, conversation: ConversationId, path: Sequence[MessageId], *, most: int
    ) -> PathOverlap | None:
        everything = self._in_memory(conversation)
        if everything is not None:
            return path_overlap(everything, path, most)
        return read_path_overlap(self._file, self._numbers.of(conversation), path, most)

    def saying(self, text: str, role: Role) -> tuple[tuple[ConversationId, MessageId], ...]:
        rows = self._file.rows(sql.SAYING, text=text, role=role)
        return tuple((ConversationId(id), id_from_key(key)) for id, key in rows)

    def generations(self, conversation: ConversationId) -> tuple[Generation, ...]:
        number = self._numbers.of(conversation)
        _, calls = self._logs.of(conversation)
        found = calls.all()
        if found is None:
            read = read_all_calls(self._file, number, self._cache.shelf(conversation).known)
            self._writer.wait_for_publication()
            calls.complete(read)
            found = calls.all()
            assert found is not None
        return found

    def is_alive(self, process: str) -> bool:
        return process == self.process

    def conversations(self, *, trashed: bool = False) -> tuple[ConversationSummary, ...]:
        return self._library.lines(lambda: summaries(self._file), trashed=trashed)

    def _key(self, conversation: ConversationId) -> int:
        return self._numbers.of(conversation)

    def _searching(
        self, words: Sequence[str], key: Key | None, among: Collection[ConversationId] | None
    ) -> tuple[str, dict[str, Any]]:
        given: dict[str, Any] = {f"word_{at}": word for at, word in enumerate(words)}
        if key is not None:
            return sql.search(len(words), "one"), given | {"conversation": key}
        if among is not None:
            return sql.search(len(words), "some"), given | {"ids": list(among)}
        return sql.search(len(words), "everything"), given

    def _write_blob(self, session: FileSession, blob: Blob) -> None:
        if not session.rows(sql.HAS_BLOB, sha256=blob.sha256)[0][0]:
            insert(session.cursor, "blobs", {field: getattr(blob, field) for field in _BLOB})

    def blob(self, sha256: str) -> Blob:
        rows = self._file.fetch(sql.BLOB, sha256=sha256)
        if not rows:
            raise no_blob(sha256)
        with self._file.decoding():
            row = rows[0]
            return Blob(sha256, row["media_type"], row["name"], bytes(row["content"]))

    def _write_derived(
        self, session: FileSession, conversation: ConversationId, entries: Mapping[str, str]
    ) -> None:
        for step in replacing_derived(_number(session, conversation), entries):
            execute(session.cursor, *step)

    def settings(self) -> Mapping[str, str]:
        return {key: value for key, value in super().settings().items() if key != ERASED_BYTES}

    def _set_setting(self, session: FileSession, key: str, value: NewSetting) -> str | None:
        rows = session.rows(sql.SETTING, key=key)
        before = str(rows[0][0]) if rows else None
        made = value(before) if callable(value) else value
        if made != before:
            write_setting(session, key, made)
        return made

    def _purge(self, session: FileSession, conversation: ConversationId) -> None:
        purge_rows(session, _number(session, conversation))

    def erase(self, conversation: ConversationId, message: MessageId, *, by: str, at: int) -> Erased:
        touched: list[ConversationId] = []

        def work(session: FileSession) -> Erased:
            done = erase_rows(session, conversation, message, by, at)
            touched.extend(done.conversations)
            self._erased_in = done.conversations
            for id in done.conversations:
                self._writer.whole.discard(self._numbers.of(id))
            self._writer.has_erased = True
            return done

        with self._erasing:
            try:
                done: Erased = self._writer.ask(Alone(work, forgets=touched))
            finally:
                self._erased_in = ()
            # The file is written anew now, or as soon as nobody reads.
            self.rest()
        return done

    def verify(self, conversation: ConversationId | None = None) -> Verification:
        if conversation is not None:
            self._numbers.of(conversation)
        return verify_file(self._file, conversation, self._distrust)

    def backup(self) -> Path:
        """Make a complete copy of the file beside it; see backup.py."""
        return back_up(self._file)

    def _write_parquet(self, tables: Path, conversations: Collection[ConversationId] | None) -> None:
        self.make_views()
        with self._file.cursor() as cursor:
            write_tables(cursor, tables, conversations)

    def make_views(self) -> None:
        """Make the views of the schema `forky_v1`, where the file has none or those of another version."""
        with self._file.cursor() as cursor:
            made = views.are_made(cursor)
        if not made:
            self._writer.ask(Alone(lambda session: views.make_views(session.cursor)))

    def rest(self) -> bool:
        """Do the work of idle time now: fold the log into the file and pack scattered messages."""
        rested: bool = self._writer.ask(Rest())
        return rested

    def _health(self, patience: float) -> tuple[bool, bool, int]:
        answered = patience > 0 and self._writer.answers(patience)
        return answered or self._writer.works(), answered, self._file.size()

    def close(self) -> None:
        self._writer.close()
        self._file.close()
        if self in _open_stores:
            events.store_closed()
        _open_stores.discard(self)


def _number(session: FileSession, conversation: ConversationId) -> int:
    """The number of a conversation. Raises NotFound if there is none."""
    rows = session.rows(sql.CONVERSATION, id=conversation)
    if not rows:
        raise no_conversation(conversation)
    number: int = rows[0][1]
    return number


_open_stores: WeakSet[DuckDBStore] = WeakSet()
if hasattr(os, "register_at_fork"):  # A fork has no threads of its stores, which stay the parent's.
    os.register_at_fork(after_in_child=_open_stores.clear)


@atexit.register
def _close_what_is_open() -> None:
    """Close stores at exit, so that a program that forgets to leaves a file with its log folded in."""
    for store in tuple(_open_stores):
        store.close()
