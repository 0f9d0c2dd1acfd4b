from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forky_core.store.duckdb.store import DuckDBStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test has a database in a file."""
    return tmp_path / "forky.duckdb"


@pytest.fixture
def store(path: Path) -> Iterator[DuckDBStore]:
    """An empty one in a file."""
    with DuckDBStore.open(path) as opened:
        yield opened
