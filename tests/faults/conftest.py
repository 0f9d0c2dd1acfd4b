from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test has a database in a file."""
    return tmp_path / "forky.duckdb"
