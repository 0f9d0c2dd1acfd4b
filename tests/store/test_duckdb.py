"""The DuckDB store keeps the laws, warm and cold: read from its caches, and from the file alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forky_core.model import Message, MessageId
from forky_core.model.parts import TextPart
from forky_core.store.contract import Commit
from forky_core.store.duckdb.read import packs
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.rows import message_from_row
from tests.hangs import HANG
from tests.store.document_laws import DocumentLaws, hits, keep
from tests.store.laws import StoreLaws
from tests.store.talk import HERE, begin, move, thread


class TestDuckDBStore(StoreLaws, DocumentLaws):
    """With the store of conftest.py."""


def test_documents_outlive_the_program(path: Path) -> None:
    with DuckDBStore.open(path) as store:
        kept = keep(store, "boats", "a mast", "a sail")
    with DuckDBStore.open(path) as store:
        assert store.documents.documents() == (kept,)
        assert hits(store, "sail") == {"a sail"}


def test_who_reads_first_between_a_commit_and_its_publication_waits_for_it(store: DuckDBStore) -> None:
    durable, go_on = threading.Event(), threading.Event()
    publish = store._writer._publish

    def publish_late(*arguments: Any) -> None:
        durable.set()
        assert go_on.wait(HANG)
        publish(*arguments)

    first, second = thread(2)
    begin(store, first)
    store._logs.drop(HERE)
    store._views.drop(HERE)
    store._writer._publish = publish_late
    with ThreadPoolExecutor(2) as pool:
        written = pool.submit(move, store, first, second)
        try:
            assert durable.wait(HANG)
            read = pool.submit(lambda: (store.operations(HERE), store.messages(HERE)))
            with pytest.raises(TimeoutError):
                read.result(0.2)
        finally:
            go_on.set()
        operations, messages = read.result(HANG)
        written.result(HANG)
    assert len(operations) == len(messages) == 2


class _Reopening:
    """A store that is closed and opened again before every call that is not a commit."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._store = DuckDBStore.open(path)

    def __getattr__(self, name: str) -> Any:
        self._store.close()
        self._store = DuckDBStore.open(self._path)
        return getattr(self._store, name)

    def commit(self, commit: Commit) -> Any:
        return self._store.commit(commit)

    def close(self) -> None:
        self._store.close()


class TestDuckDBStoreFromItsFile(StoreLaws):
    """Nothing that a law needs lives in memory only."""

    @pytest.fixture
    def store(self, path: Path) -> Iterator[Any]:
        store = _Reopening(path)
        yield store
        store.close()

    test_later_calls_return_the_same_message_objects = None  # type: ignore[assignment]
    """Another process has other objects."""
    test_what_was_read_is_at_hand = None  # type: ignore[assignment]
    """Another process has nothing in memory."""
    test_listeners_learn_of_each_change_until_they_are_forgotten = None  # type: ignore[assignment]
    """Another process has no listeners."""
    test_a_process_is_alive_to_itself = None  # type: ignore[assignment]
    """It is another process each time."""
    test_writers_of_one_branch_lose_no_message_and_duplicate_none = None  # type: ignore[assignment]
    test_writers_of_many_conversations_do_not_disturb_each_other = None  # type: ignore[assignment]
    test_readers_beside_a_writer_see_no_gap_and_nothing_twice = None  # type: ignore[assignment]
    test_changes_of_a_setting_at_once_are_all_there = None  # type: ignore[assignment]
    """A store cannot be closed under its other threads."""


class _Resting(_Reopening):
    """As `_Reopening`, and every message is packed before it is read."""

    def __getattr__(self, name: str) -> Any:
        self._store.rest()
        return super().__getattr__(name)


@pytest.mark.long
class TestDuckDBStoreFromItsPacks(TestDuckDBStoreFromItsFile):
    """A pack says what the messages say."""

    @pytest.fixture
    def store(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
        monkeypatch.setattr(packs, "WORTH", 0)
        monkeypatch.setattr(packs, "LEAST", 1)
        store = _Resting(path)
        yield store
        store.close()


def test_a_message_that_is_read_is_one_that_was_made() -> None:
    """Those of one text are filled past their constructor."""
    made = Message(MessageId("b2:1"), (MessageId("b2:0"),), "user", (TextPart("hello"),), None, 7)
    read = message_from_row(MessageId("b2:1"), MessageId("b2:0"), "user", "hello", None, 7)
    assert (read, hash(read), repr(read)) == (made, hash(made), repr(made))
    assert replace(read, name="Ada") == replace(made, name="Ada")
