from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.people.team import Team
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


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "forky.duckdb"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file for people."""
    return tmp_path / "people.sqlite"


@pytest.fixture
def team() -> Iterator[Team]:
    """A team in memory, with nobody in it."""
    opened = Team(None)
    yield opened
    opened.close()


@pytest.fixture
def ada(team: Team) -> Member:
    return team.members.add("Ada", Role.OWNER)


@pytest.fixture
def bob(team: Team, ada: Member) -> Member:
    return team.members.add("Bob", Role.EDITOR)
