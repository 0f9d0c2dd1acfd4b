"""A running server makes the backup that another process asks it for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forky_core.forky import Forky
from forky_core.model.errors import InTheWay, StoreError
from forky_core.people import team_file
from forky_core.people.backup.backup_desk import BackupDesk, ask_for_backup
from forky_core.people.backup.server_backup import back_up, read_backup, restore
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.people.views import join_team, member_view
from tests.builders import ScriptedModels


@pytest.fixture
def running(database: Path) -> Iterator[tuple[Forky, Team]]:
    """A server as it runs: the database and the people are open."""
    team = Team(team_file(database))
    with Forky.open(database, models=ScriptedModels()) as forky:
        yield forky, team
    team.close()


def test_a_running_server_makes_the_backup_that_another_process_asks_for(
    database: Path, running: tuple[Forky, Team], tmp_path: Path
) -> None:
    forky, team = running
    ada = team.members.add("Ada", Role.OWNER)
    member_view(forky, team, ada.id).create("Boats")
    desk = BackupDesk(team, lambda into: back_up(into, team, database, copied=forky.backup).folder)
    command = Team(team_file(database))
    try:
        folder = ask_for_backup(command, tmp_path / "backups")
    finally:
        desk.close()
        command.close()
    forky.create("Later")
    restored = tmp_path / "restored" / "forky.duckdb"
    restore(read_backup(folder), restored, "main")
    people = Team(team_file(restored))
    with Forky.open(restored, models=ScriptedModels()) as again:
        join_team(again, people)
        assert [one.title for one in again.conversations()] == ["Boats"]
        assert [member.name for member in people.members.all()] == ["Ada"]
    people.close()


def test_a_backup_that_fails_says_why(running: tuple[Forky, Team], tmp_path: Path) -> None:
    _, team = running

    def fail(_into: Path) -> Path:
        raise StoreError("There is no room.")

    desk = BackupDesk(team, fail)
    try:
        with pytest.raises(StoreError, match="no room"):
            ask_for_backup(team, tmp_path)
    finally:
        desk.close()


def test_without_an_answer_it_says_what_to_do(running: tuple[Forky, Team], tmp_path: Path) -> None:
    _, team = running
    with pytest.raises(InTheWay, match="makes no backup when it is asked"):
        ask_for_backup(team, tmp_path, taken_within=0.2)
