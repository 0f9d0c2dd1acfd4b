"""The PostgreSQL store keeps the laws, of conversations and of documents, warm and cold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from forky_core.store.contract import Commit, Store
from forky_core.store.postgresql.store import PostgresStore
from tests.store.document_laws import DocumentLaws
from tests.store.laws import StoreLaws


class TestPostgresStore(StoreLaws, DocumentLaws):
    @pytest.fixture
    def store(self, shared: str, workspace: str) -> Iterator[Store]:
        store = PostgresStore.open(shared, workspace=workspace)
        yield store
        store.close()


class _Alternating:
    """Two processes' stores on one database: one commits, the other one answers everything else."""

    def __init__(self, url: str, workspace: str) -> None:
        self._writing, self._reading = (PostgresStore.open(url, workspace=workspace) for _ in range(2))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reading, name)

    def commit(self, commit: Commit) -> Any:
        self._writing, self._reading = self._reading, self._writing
        return self._writing.commit(commit)

    def close(self) -> None:
        self._writing.close()
        self._reading.close()


@pytest.mark.long
class TestTwoPostgresStores(StoreLaws):
    """What one process remembers never hides what another has written."""

    @pytest.fixture
    def store(self, shared: str, workspace: str) -> Iterator[Any]:
        store = _Alternating(shared, workspace)
        yield store
        store.close()

    test_later_calls_return_the_same_message_objects = None  # type: ignore[assignment]
    """Another process has other objects."""
    test_what_was_read_is_at_hand = None  # type: ignore[assignment]
    """Another process has nothing in memory."""
    test_listeners_learn_of_each_change_until_they_are_forgotten = None  # type: ignore[assignment]
    """Another process hears of it a moment later: test_other_processes.py."""
