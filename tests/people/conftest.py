from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.people.people import Office, office

if TYPE_CHECKING:
    from tests.store.postgresql.server import Server


@pytest.fixture
def here() -> Iterator[Office]:
    with office() as opened:
        yield opened


@pytest.fixture(params=["file", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """Where a team's people are kept."""
    if request.param == "file":
        return tmp_path / "forky.people.sqlite"
    server: Server = request.getfixturevalue("postgresql")
    return server.database()
