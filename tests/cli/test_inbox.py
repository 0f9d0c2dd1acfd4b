"""`forky inbox`: the notices of somebody of a team, also while a server has the database open."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forky_core.forky import Forky
from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.people.team import Team, team_file
from tests.cli.conftest import Ended

Run = Callable[..., Ended]


@pytest.fixture
def team(database: Path) -> Iterator[Team]:
    """As a server holds it."""
    with Forky.open(database):
        opened = Team(team_file(database))
        yield opened
        opened.close()


@pytest.fixture
def ben(team: Team) -> Member:
    ada = team.members.add("Ada", Role.OWNER)
    ben = team.members.add("Ben", Role.EDITOR)
    team.members.set_role(ben.id, Role.VIEWER, by=ada.id)
    return ben


def test_it_lists_what_is_not_read_and_marks_it(forky: Run, team: Team, ben: Member) -> None:
    said = forky("inbox", "ben").out
    assert "Ada made you a viewer of this workspace." in said and "/people" in said
    (told,) = [json.loads(line) for line in forky("inbox", "ben", "--json").out.splitlines()]
    assert (told["kind"], told["read"], told["address"]) == ("role", False, "/people")
    forky("inbox", "ben", "--mark-read")
    assert team.inbox.unread(ben.id) == 0
    assert forky("inbox", "ben").out == "Everything is read.\n"
    assert "Ada made you" in forky("inbox", "ben", "--all").out


def test_nobody_and_no_team_are_said(forky: Run, team: Team, ben: Member) -> None:
    assert "Nobody here is “eve”." in forky("inbox", "eve").err
    assert forky("inbox", "ada").out == "Everything is read.\n"
