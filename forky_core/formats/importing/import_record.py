"""The record of an import, stored from its first conversation on, so that an interrupted one can be found again.

Two things are written. The record is a setting of the workspace and says which file is read, since when, and which
conversations were chosen. Each conversation gets a mark, in the very transaction that writes it, so that a kill at any
moment leaves marks on exactly what was imported. A finished import lists its conversations in its record and has no
marks.

An unfinished import that nobody runs counts as interrupted. Where several processes share a database, the record names
the one that runs it, and the store says whether that one is still there (`Store.is_alive`). Whoever takes the import
over puts their own name in its place, in a change that no other process can come between.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any, Literal
from weakref import WeakKeyDictionary

from forky_core.conversation.identity import new_id, now, title_line
from forky_core.formats.account import ImportAccount
from forky_core.formats.files.source import files_in
from forky_core.formats.importing import UNFINISHED
from forky_core.model import ConversationId
from forky_core.model.errors import BadContent, NotAllowed, NotFound, StoreError
from forky_core.model.parts import Json, canonical_json
from forky_core.store.contract import Commit, Store, StoreIdentity

_COUNT = "imports"
"""Setting: the number of the newest import. A number is never used for two imports."""
_FILES = "imports/files"
"""Setting: for each attempt at an import, the sha256 of files whose messages may not be written yet. The name of an
attempt begins with that of its process."""
_REMOVING = "removing"
"""The end of the name of an attempt whose files are being removed."""
_AGAIN_AFTER = 0.05
"""Seconds between two checks whether the removal of files that are needed again has ended."""
_FOLLOWED = "follow:"
_AT_ONCE = 1 << 20
"""How many bytes of a file are read at a time."""

Brought = Mapping[ConversationId, Sequence[int]]
"""For each conversation, the numbers of the operations that created it (the first is 1) or extended it, ascending."""
State = Literal["running", "broken off", "finished"]

_lock = Lock()
_running: WeakKeyDictionary[StoreIdentity, set[int]] = WeakKeyDictionary()
"""Numbers of the imports that this process is running."""
_unreleased: WeakKeyDictionary[StoreIdentity, set[int]] = WeakKeyDictionary()
"""Numbers of imports that ended here while the database could not be written, and still name this process."""
_read: WeakKeyDictionary[StoreIdentity, dict[int, WeakKeyDictionary[Store, tuple[str, ImportRecord]]]] = (
    WeakKeyDictionary()
)
"""A cache of records of interrupted imports by number, as each view of the store shows them. Pages need them on every
run, and reading the marks of 20,000 conversations takes half a second. Only functions that invalidate the cache change
them, and other processes, which also change the stored text.
"""
_AT_FIRST = 50
"""How many records are read at once for the list of imports; each further time it is four times as many."""


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """The file of an import, with what identifies the same file again."""

    file: str
    """Its name, for people."""
    identity: str
    """`sha256:` of its bytes; or `follow:` and its path, if another program keeps writing it."""
    size: int
    """Bytes."""
    path: str = ""
    """Its path on this machine; "" for an upload or a pipe, of which no copy is kept."""

    @classmethod
    def followed(cls, path: Path, size: int) -> ImportedFile:
        """A file that another program keeps writing: it stays the same source when it changes."""
        return cls(title_line(path.name), f"{_FOLLOWED}{path.resolve()}", size)

    @property
    def follows(self) -> str:
        """The path of a file that another program keeps writing; "" for other files."""
        return self.identity.removeprefix(_FOLLOWED) if self.identity.startswith(_FOLLOWED) else ""


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """The record of one import."""

    number: int
    source: ImportedFile
    began: int
    """Microseconds since the epoch, UTC."""
    state: State
    conversations: tuple[ConversationId, ...]
    """Conversations that were created or extended so far, without those that were purged since."""
    messages: int
    """The number of messages that it added."""
    account: ImportAccount
    """The account of everything in the file; empty unless the import is finished."""
    chosen: frozenset[int] | None
    """The numbers of the chosen conversations; None for all of them, or if they are unknown."""

    @property
    def expected(self) -> int | None:
        """How many conversations were chosen, if that is known."""
        return len(self.chosen) if self.chosen is not None else None

    @property
    def how_far(self) -> str:
        """The beginning of a sentence about the progress: “340 of 1,200 conversations came in”."""
        came, expected = len(self.conversations), self.expected
        of = f" of {expected:,}" if expected is not None and expected > came else ""
        return f"{came:,}{of} {'conversation' if came == 1 and not of else 'conversations'} came in"

    @property
    def can_be_read_again(self) -> bool:
        """Whether the file still exists at its path; it may have changed."""
        return bool(self.source.path) and Path(self.source.path).is_file()


@dataclass(frozen=True, slots=True)
class _ImportMark:
    """What one import wrote to one conversation."""

    commits: tuple[tuple[int, int], ...] = ()
    """For each commit: the conversation's version that its author saw, and its time."""
    messages: int = 0
    pieces: tuple[int, ...] = ()
    """Numbers of the file's conversations that were imported into it completely."""

    @classmethod
    def read(cls, text: str) -> _ImportMark:
        stored = json.loads(text)
        commits = tuple((after, at) for after, at in stored["commits"])
        return cls(commits, stored["messages"], tuple(stored["pieces"]))

    def with_commits(self, commits: Sequence[Commit], after: int, piece: int) -> _ImportMark:
        made = tuple((after + place, commit.at) for place, commit in enumerate(commits))
        messages = self.messages + sum(len(one.messages) for one in commits)
        whole = (piece,) if len(commits) == 1 else ()
        return _ImportMark(self.commits + made, messages, self.pieces + whole)

    def stored(self) -> str:
        return canonical_json({"commits": self.commits, "messages": self.messages, "pieces": self.pieces})

    def operations(self, store: Store, conversation: ConversationId) -> list[int]:
        """The numbers of the operations that the commits became. A refused commit has none."""
        if all(after == 0 for after, _ in self.commits):
            return [1]  # The commit that created the conversation also stored this mark, so it was written.
        log = store.operations(conversation, after=min(after for after, _ in self.commits))
        found = {
            next((one.number for one in log if one.number > after and one.at == at), 0)
            for after, at in self.commits
        }
        return sorted(found - {0})


def source_of(path: Path, *, name: str = "", lies_there: bool = True) -> ImportedFile:
    """Identify the file at `path`, reading it once to its end, or a folder, by the names, sizes and times of its files.

    `lies_there` is False for a temporary copy.

    Raises:
        BadContent: it cannot be read.
    """
    digest, size = hashlib.sha256(), 0
    try:
        if path.is_dir():
            for one in files_in(path):
                status = one.lstat()
                digest.update(
                    f"{one.relative_to(path)}\0{status.st_size} {status.st_mtime_ns}\0".encode(
                        "utf-8", "replace"
                    )
                )
                size += status.st_size
        else:
            with path.open("rb") as file:
                while piece := file.read(_AT_ONCE):
                    digest.update(piece)
                    size += len(piece)
        where = str(path.resolve()) if lies_there else ""
    except OSError as error:
        raise BadContent(f"“{title_line(path.name)}” cannot be read: {error.strerror}.") from error
    return ImportedFile(title_line(name or path.name), f"sha256:{digest.hexdigest()}", size, where)


class ImportRecorder:
    """A running import: its record is created with its first conversation, and updated until its end.

    If an import of the same source was interrupted, this one resumes it: one record covers what both brought.
    """

    def __init__(self, store: Store, source: ImportedFile, chosen: Collection[int] | None) -> None:
        self._store = store
        self._source = source
        self._chosen = frozenset(chosen) if chosen is not None else None
        self._attempt = f"{store.process}:{new_id()}"
        self._marks: dict[ConversationId, _ImportMark] = {}
        self.number = 0
        """The record's number; 0 until there is one."""
        self._resume()
        self.came_before = frozenset(self._marks)
        """Conversations that the interrupted import of this source had imported, completely or in part."""
        self.takes_up = bool(self.number)
        """Whether it resumes an interrupted import."""
        self._begun = False
        """Whether this import has written the record."""
        self.piece = 0
        """Number of the conversation of the file that is being imported."""
        self._expects = False
        """Whether files have been stored before their messages."""

    def _resume(self) -> None:
        """Find an interrupted import of the same source, and continue its record."""
        with _lock:
            here = _running.setdefault(self._store.identity, set())
            for number in reversed(_unfinished(self._store)):
                stored = _stored(self._store, number)
                if stored is None or number in here or _source(stored).identity != self._source.identity:
                    continue
                if not self._store.is_exclusive and not self._claim(number, stored):
                    continue
                self._marks = _marks(self._store, number)
                before = _numbers(stored.get("chosen"))
                self._chosen = (
                    self._chosen | before if self._chosen is not None and before is not None else None
                )
                here.add(number)
                _read.get(self._store.identity, {}).pop(number, None)
                self.number = number
                return

    def _claim(self, number: int, stored: Mapping[str, Any]) -> bool:
        """Take an interrupted import over from its process; return False if that still runs, or another was faster."""
        former = stored.get("process", "")
        if former != self._store.process and self._store.is_alive(former):
            return False
        claimed = False

        def mine(text: str | None) -> str | None:
            nonlocal claimed
            now = json.loads(text) if text is not None else {"state": "finished"}
            claimed = not _is_finished(now) and now.get("process", "") == former
            return canonical_json({**now, **self._run_by}) if claimed else text

        self._store.set_setting(_key(number), mine)
        return claimed

    def _is_mine(self) -> bool:
        """Whether no other process has taken this import over."""
        stored = _stored(self._store, self.number) if self._begun and not self._store.is_exclusive else None
        return stored is None or stored.get("process", "") == self._store.process

    @property
    def _run_by(self) -> dict[str, Json]:
        """The fields of a record about the present attempt; none if no other process can use the store."""
        return {} if self._store.is_exclusive else {"process": self._store.process, "attempt": self._attempt}

    def has_brought(self, conversation: ConversationId, piece: int) -> bool:
        """Whether the interrupted import had imported that conversation of the file completely into this one."""
        if self._source.follows:
            return False  # The file may have changed since.
        return conversation in self.came_before and piece in self._marks[conversation].pieces

    def marked(self, commits: Sequence[Commit], after: int) -> list[Commit]:
        """Add marks of this import and the current piece to commits of one conversation.

        `after` is the version of the conversation that their author saw, 0 for a new one; each commit makes one
        operation. Raises StoreError if the record cannot be created.
        """
        if not commits:
            return []
        self._begin()
        id = commits[0].conversation
        mark = self._marks.get(id, _ImportMark()).with_commits(commits, after, self.piece)
        self._marks[id] = mark
        first, *others = commits
        return [replace(first, derived={**first.derived, _key(self.number): mark.stored()}), *others]

    def forget_mark(self, conversation: ConversationId) -> None:
        """Forget the latest mark of a conversation, whose commits were refused."""
        stored = None
        with suppress(NotFound):
            stored = self._store.derived(conversation, (_key(self.number),)).get(_key(self.number))
        if stored is None:
            self._marks.pop(conversation, None)
        else:
            self._marks[conversation] = _ImportMark.read(stored)

    def expect_files(self, names: Iterable[str]) -> None:
        """Record, by sha256, the files that are about to be stored before the messages that name them.

        This replaces the former list, whose messages have been written. If this import is interrupted, the next start
        removes the files on the list that no message names (`recover_imports`).
        """
        wanted = sorted(set(names))
        if wanted:
            self._begin()
            self._expects = True
            _set_files(self._store, self._attempt, wanted)

    def _begin(self) -> None:
        if self._begun:
            return
        stored = _stored(self._store, self.number) if self.number else None
        if not self.number:
            with _lock:
                number = int(self._store.set_setting(_COUNT, lambda text: str(int(text or 0) + 1)) or 0)
                _change_unfinished(self._store, lambda numbers: [*numbers, number])
                _running.setdefault(self._store.identity, set()).add(number)
                self.number = number
        source = self._source
        record: dict[str, Json] = {
            "file": source.file,
            "source": source.identity,
            "size": source.size,
            "at": stored["at"] if stored is not None else now(),
            "state": "unfinished",
            **self._run_by,
        }
        path = source.path or (stored or {}).get("path", "")
        if path:
            record["path"] = path
        if self._chosen is not None:
            record["chosen"] = _ranges(self._chosen)
        self._store.set_setting(_key(self.number), canonical_json(record))
        self._begun = True

    def finish(self, account: ImportAccount, brought: Brought, refused_files: Sequence[str] = ()) -> int:
        """Turn the record into that of a finished import; returns its number, or 0 if nothing was imported.

        `brought` are the operations of this attempt; `refused_files` the sha256 of files that were stored for messages
        that were refused.
        """
        if self._expects:
            _set_files(self._store, self._attempt, refused_files)
        known = {id: numbers for id, numbers in brought.items() if id not in self.came_before}
        if self.number and not self._is_mine():
            self.release()
            return (
                self.number
            )  # Another process took the import over because this one seemed dead, and finishes it.
        if self.number and not _finish(self._store, self.number, account, known):
            forget_import(self._store, self.number)
            self.release()
            return 0
        self.release()
        return self.number

    def stop(self) -> None:
        """Remove the marks of this import, whose changes were undone, and its record, unless an earlier import made
        it.
        """
        if self.number and not self.takes_up:
            forget_import(self._store, self.number)
        self.release()

    def release(self) -> None:
        """Stop counting as running; if it is not finished, it counts as interrupted from here on."""
        with _lock:
            _running.get(self._store.identity, set()).discard(self.number)
            _read.get(self._store.identity, {}).pop(self.number, None)
            if self.number and not self._store.is_exclusive:
                _unreleased.setdefault(self._store.identity, set()).add(self.number)
        _release_all(self._store)


def imports(store: Store, most: int | None = None) -> tuple[ImportRecord, ...]:
    """The imports of this workspace, newest first; at most `most`."""
    found: list[ImportRecord] = []
    newest, at_once = int(store.setting(_COUNT) or 0), _AT_FIRST
    while newest > 0 and (most is None or len(found) < most):
        records = _find(store, range(newest, max(newest - at_once, 0), -1))
        found += [one for one in records if one.conversations or one.state == "finished"]
        newest, at_once = newest - at_once, at_once * 4
    return tuple(found[:most])


def import_of(store: Store, number: int) -> ImportRecord:
    """The record of this number. Raises NotFound if there is no such import, or it was undone."""
    stored = _stored(store, number)
    if stored is None:
        raise NotFound(f"There is no import number {number}.")
    return _record(store, number, stored)


def broken_off(store: Store) -> tuple[ImportRecord, ...]:
    """The imports that were interrupted after something had been imported, newest first."""
    _release_all(store)
    records = _find(store, _unfinished(store)[::-1])
    return tuple(one for one in records if one.state == "broken off" and one.conversations)


def broken_off_of(store: Store, source: ImportedFile) -> ImportRecord | None:
    """The interrupted import that an import of this source would resume."""
    return next((one for one in broken_off(store) if one.source.identity == source.identity), None)


def operations_of(store: Store, number: int, known: Brought | None = None) -> Brought:
    """For each conversation, the operations by which an import created or extended it. Raises NotFound for an unknown
    import.

    `known` are operations that need not be looked up: those of conversations that only this attempt has changed.
    """
    stored = _stored(store, number)
    if stored is None:
        raise NotFound(f"There is no import number {number}.")
    if _is_finished(stored):
        return _listed(stored)
    known = known or {}
    resolved = {
        id: known[id] if id in known else mark.operations(store, id)
        for id, mark in _marks(store, number).items()
    }
    return {id: numbers for id, numbers in resolved.items() if numbers}


def keep_import(store: Store, number: int) -> None:
    """Mark an interrupted import as finished with what it brought. Raises NotFound if it was not interrupted."""
    record = import_of(store, number)
    if record.state != "broken off":
        raise NotFound(f"Import {number} was not broken off.")
    came = ImportAccount(len(record.conversations), seen=record.messages, imported=record.messages)
    if not _finish(store, number, came):
        forget_import(store, number)


def forget_import(store: Store, number: int) -> None:
    """Remove the record of an import and its marks; its conversations are unchanged."""
    store.forget_derived(_key(number))
    store.set_setting(_key(number), None)
    _settle(store, number)


def is_running(store: Store, number: int) -> bool:
    """Whether this or another process is running that import."""
    if _is_running_here(store, number):
        return True
    stored = _stored(store, number) if not store.is_exclusive else None
    return stored is not None and not _is_finished(stored) and _is_run_elsewhere(store, stored)


def _is_running_here(store: Store, number: int) -> bool:
    with _lock:
        return number in _running.get(store.identity, set())


def _is_run_elsewhere(store: Store, stored: Mapping[str, Any]) -> bool:
    """Whether another process that is alive runs an unfinished import."""
    process = stored.get("process", "")
    return bool(process) and process != store.process and store.is_alive(process)


def _release_all(store: Store) -> None:
    """Remove this process from the records of imports that it no longer runs, as soon as they can be written."""
    for number in sorted(_unreleased.get(store.identity, ())):

        def released(text: str | None) -> str | None:
            if text is None:
                return None
            stored = json.loads(text)
            if stored.get("process") == store.process:
                del stored["process"]
            return canonical_json(stored)

        with suppress(StoreError, NotAllowed):
            if not _is_running_here(store, number):
                store.set_setting(_key(number), released)
            _unreleased[store.identity].discard(number)


def recover_imports(store: Store) -> None:
    """Remove leftovers of killed imports that belong to no conversation; call it before anything else is written.

    These are files whose messages were never written, marks of imports that had ended, and records of imports that had
    brought nothing. What another process is importing is left alone.
    """
    _remove_files(store)
    for number in _unfinished(store):
        stored = _stored(store, number)
        if stored is None and not store.is_exclusive:
            continue  # Another process may be about to write it.
        if stored is None or _is_finished(stored):
            store.forget_derived(_key(number))
            _settle(store, number)
        elif not is_running(store, number) and not _marks(store, number):
            forget_import(store, number)


def _remove_files(store: Store) -> None:
    """Remove the files of messages that a dead process did not write any more."""
    mine = f"{store.process}:{_REMOVING}"
    known = _read_files(store.setting(_FILES))
    processes = {attempt.partition(":")[0] for attempt in known}
    gone = {process for process in processes if not store.is_alive(process)}
    if not gone:
        return

    def claimed(text: str | None) -> str | None:
        files = _read_files(text)
        left = [attempt for attempt in files if attempt.partition(":")[0] in gone]
        names = {name for attempt in left for name in files.pop(attempt)}
        return _files_text({**files, mine: sorted(names.difference(*files.values()))})

    files = _read_files(store.set_setting(_FILES, claimed))
    store.drop_blobs(files.get(mine, ()))
    _set_files(store, mine, ())


def _finish(store: Store, number: int, account: ImportAccount, known: Brought | None = None) -> bool:
    """List what was imported in the record, and remove the marks; False if nothing was imported."""
    operations: dict[str, Json] = {
        id: list(numbers) for id, numbers in operations_of(store, number, known).items()
    }
    stored = _stored(store, number)
    if stored is None or not operations:
        return False
    record: dict[str, Json] = {
        "file": stored["file"],
        "at": stored["at"],
        "state": "finished",
        "account": account.stored(),
        "messages": sum(mark.messages for mark in _marks(store, number).values()),
        "operations": operations,
    }
    store.set_setting(_key(number), canonical_json(record))
    store.forget_derived(_key(number))
    _settle(store, number)
    return True


def _settle(store: Store, number: int) -> None:
    """Remove an import from the list of unfinished ones."""
    with _lock:
        _read.get(store.identity, {}).pop(number, None)
        if number in _unfinished(store):
            _change_unfinished(store, lambda numbers: [one for one in numbers if one != number])


def _find(store: Store, numbers: Sequence[int]) -> list[ImportRecord]:
    """Return the existing records with these numbers, in this order; those of interrupted imports from the cache."""
    if not numbers:
        return []
    texts = store.settings_of(map(_key, numbers))
    there = ((number, texts.get(_key(number))) for number in numbers)
    return [_cached(store, number, text) for number, text in there if text is not None]


def _cached(store: Store, number: int, text: str) -> ImportRecord:
    """Return the record that is stored as this text."""
    cached = _read.setdefault(store.identity, {})
    entry = cached[number].get(store) if number in cached else None
    if entry is not None and entry[0] == text and not _is_running_here(store, number):
        return entry[1]
    record = _record(store, number, json.loads(text))
    if record.state == "broken off":
        cached.setdefault(number, WeakKeyDictionary())[store] = (text, record)
    return record


def _record(store: Store, number: int, stored: Mapping[str, Any]) -> ImportRecord:
    state: State = "finished"
    marks: Mapping[ConversationId, _ImportMark] = {}
    if not _is_finished(stored):
        runs = _is_running_here(store, number) or _is_run_elsewhere(store, stored)
        state = "running" if runs else "broken off"
        marks = _marks(store, number)
    account = ImportAccount.from_stored(stored["account"]) if "account" in stored else ImportAccount()
    return ImportRecord(
        number,
        _source(stored),
        stored["at"],
        state,
        tuple(marks or _listed(stored)),
        sum(one.messages for one in marks.values()) or stored.get("messages", account.imported),
        account,
        _numbers(stored.get("chosen")),
    )


def _is_finished(stored: Mapping[str, Any]) -> bool:
    """Whether an import is finished, including records that were written before there were states."""
    return bool(stored.get("state", "finished") == "finished")


def _listed(stored: Mapping[str, Any]) -> Brought:
    """The operations that are listed in the record itself."""
    if "operations" in stored:
        found: Brought = stored["operations"]
        return found
    # Older records hold only the first and the last operation of each conversation.
    ended = stored.get("ended", {})
    return {
        id: range(max(1, first), ended.get(id, max(1, first)) + 1)
        for id, first in stored.get("conversations", {}).items()
    }


def _source(stored: Mapping[str, Any]) -> ImportedFile:
    return ImportedFile(
        stored["file"], stored.get("source", ""), stored.get("size", 0), stored.get("path", "")
    )


def _key(number: int) -> str:
    """The key of the record among the settings, and of the marks among derived values."""
    return f"import/{number}"


def _stored(store: Store, number: int) -> dict[str, Any] | None:
    text = store.setting(_key(number))
    if text is None:
        return None
    found: dict[str, Any] = json.loads(text)
    return found


def _marks(store: Store, number: int) -> dict[ConversationId, _ImportMark]:
    return {id: _ImportMark.read(text) for id, text in sorted(store.derived_under(_key(number)).items())}


def _unfinished(store: Store) -> list[int]:
    numbers: list[int] = json.loads(store.setting(UNFINISHED) or "[]")
    return numbers


def _change_unfinished(store: Store, change: Callable[[list[int]], list[int]]) -> None:
    def rewritten(text: str | None) -> str | None:
        numbers = change(json.loads(text or "[]"))
        return canonical_json(list(numbers)) if numbers else None

    store.set_setting(UNFINISHED, rewritten)


def _set_files(store: Store, attempt: str, names: Sequence[str]) -> None:
    """List the files of an attempt. If one of them is being removed, wait for that, so that it can be stored again."""
    while True:
        removing: list[str] = []

        def rewritten(text: str | None, removing: list[str] = removing) -> str | None:
            files = _read_files(text)
            removing[:] = [
                one
                for one, gone in files.items()
                if one != attempt and one.endswith(f":{_REMOVING}") and not set(gone).isdisjoint(names)
            ]
            if removing:
                return text
            files.pop(attempt, None)
            return _files_text({**files, attempt: list(names)} if names else files)

        with _lock:
            store.set_setting(_FILES, rewritten)
        if not any(store.is_alive(one.partition(":")[0]) for one in removing):
            if not removing:
                return
            for one in removing:  # The process that removed them has died.
                _set_files(store, one, ())
        time.sleep(_AGAIN_AFTER)


def _read_files(text: str | None) -> dict[str, list[str]]:
    files: dict[str, list[str]] = json.loads(text or "{}")
    return files


def _files_text(files: Mapping[str, Sequence[str]]) -> str | None:
    kept: dict[str, Json] = {attempt: list(names) for attempt, names in files.items()}
    return canonical_json(kept) if kept else None


def _ranges(numbers: Iterable[int]) -> Json:
    """Numbers as a list of ranges, since the chosen conversations are mostly long runs."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return [[first, last] for first, last in found]


def _numbers(ranges: Any) -> frozenset[int] | None:
    if ranges is None:
        return None
    return frozenset(number for first, last in ranges for number in range(first, last + 1))
