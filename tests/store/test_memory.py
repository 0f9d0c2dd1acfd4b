"""The reference store keeps the laws, of conversations and of documents."""

from __future__ import annotations

import pytest

from forky_core.store.contract import Store
from forky_core.store.memory.store import MemoryStore
from tests.store.document_laws import DocumentLaws
from tests.store.laws import StoreLaws


class TestMemoryStore(StoreLaws, DocumentLaws):
    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore()
