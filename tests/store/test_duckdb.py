"""The DuckDB store keeps the laws, warm and cold: read from its caches, and from the file alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forky_core.model import Message, MessageId
from forky_core.parts import TextPart
from forky_core.store.contract import Commit, Store
from forky_core.store.duckdb import DuckDBStore
from forky_core.store.reading import packs
from forky_core.store.reading.rows import message_from_row
from tests.store.laws import StoreLaws


class TestDuckDBStore(StoreLaws):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = DuckDBStore.open(tmp_path / "forky.duckdb")
        yield store
        store.close()


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
    def store(self, tmp_path: Path) -> Iterator[Any]:
        store = _Reopening(tmp_path / "forky.duckdb")
        yield store
        store.close()

    test_later_calls_return_the_same_message_objects = None  # type: ignore[assignment]
    """Another process has other objects."""
    test_what_was_read_is_at_hand = None  # type: ignore[assignment]
    """Another process has nothing in memory."""
    test_writers_of_one_branch_lose_no_message_and_duplicate_none = None  # type: ignore[assignment]
    test_writers_of_many_conversations_do_not_disturb_each_other = None  # type: ignore[assignment]
    test_readers_beside_a_writer_see_no_gap_and_nothing_twice = None  # type: ignore[assignment]
    """A store cannot be closed under its other threads."""


class _Resting(_Reopening):
    """As `_Reopening`, and every message is packed before it is read."""

    def __getattr__(self, name: str) -> Any:
        self._store.rest()
        return super().__getattr__(name)


class TestDuckDBStoreFromItsPacks(TestDuckDBStoreFromItsFile):
    """A pack says what the messages say."""

    @pytest.fixture
    def store(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
        monkeypatch.setattr(packs, "WORTH", 0)
        monkeypatch.setattr(packs, "LEAST", 1)
        store = _Resting(tmp_path / "forky.duckdb")
        yield store
        store.close()


def test_a_message_that_is_read_is_one_that_was_made() -> None:
    """Those of one text are filled past their constructor."""
    made = Message(MessageId("b2:1"), (MessageId("b2:0"),), "user", (TextPart("hello"),), None, 7)
    read = message_from_row(MessageId("b2:1"), MessageId("b2:0"), "user", "hello", None, 7)
    assert (read, hash(read), repr(read)) == (made, hash(made), repr(made))
    assert replace(read, name="Ada") == replace(made, name="Ada")
