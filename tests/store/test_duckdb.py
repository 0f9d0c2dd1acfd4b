"""The DuckDB store keeps the laws, warm and cold: read from its caches, and from the file alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forky_core.store.contract import Commit, Store
from forky_core.store.duckdb import DuckDBStore
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
    test_writers_of_one_branch_lose_no_message_and_duplicate_none = None  # type: ignore[assignment]
    test_writers_of_many_conversations_do_not_disturb_each_other = None  # type: ignore[assignment]
    test_readers_beside_a_writer_see_no_gap_and_nothing_twice = None  # type: ignore[assignment]
    """A store cannot be closed under its other threads."""
