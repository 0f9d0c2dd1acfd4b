"""A team's server for the pages, with its first two members."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from forky_core.people.members import Member
from forky_core.people.roles import Role
from tests.pages.teams import TeamServer, team_server


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[TeamServer]:
    with team_server(monkeypatch) as opened:
        yield opened


@pytest.fixture
def ada(server: TeamServer) -> Member:
    return server.add("Ada", Role.OWNER)


@pytest.fixture
def ben(server: TeamServer, ada: Member) -> Member:
    return server.add("Ben", Role.EDITOR)
