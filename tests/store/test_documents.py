"""Both stores keep the laws of documents; the file keeps them cold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forky_core.store.contract import Store
from forky_core.store.duckdb.store import DuckDBStore
from forky_core.store.memory.store import MemoryStore
from tests.store.document_laws import DocumentLaws, hits, keep


class TestMemoryDocuments(DocumentLaws):
    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore()


class TestFiledDocuments(DocumentLaws):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = DuckDBStore.open(tmp_path / "forky.duckdb")
        yield store
        store.close()


def test_documents_outlive_the_program(tmp_path: Path) -> None:
    with DuckDBStore.open(tmp_path / "forky.duckdb") as store:
        kept = keep(store, "boats", "a mast", "a sail")
    with DuckDBStore.open(tmp_path / "forky.duckdb") as store:
        assert store.documents.documents() == (kept,)
        assert hits(store, "sail") == {"a sail"}
