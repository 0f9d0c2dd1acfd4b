"""Fixtures for the tests of several workspaces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workspaces.building import Building, building


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Building]:
    with building(tmp_path) as made:
        yield made
