"""The reference store keeps the laws."""

from __future__ import annotations

import pytest

from forky_core.store.contract import Store
from forky_core.store.memory.store import MemoryStore
from tests.store.laws import StoreLaws


class TestMemoryStore(StoreLaws):
    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore()
