"""A backup has the conversations and the people, and is put back."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forky_core.forky import Forky
from forky_core.model.errors import BadContent, NotFound, StoreBusy
from forky_core.people import team_file
from forky_core.people.backup.server_backup import LIST, back_up, read_backup, restore
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.people.views import join_team, member_view
from tests.builders import ScriptedModels, talk, texts


@contextmanager
def running(folder: Path) -> Iterator[tuple[Forky, Team]]:
    database = folder / "forky.duckdb"
    team = Team(team_file(database))
    with Forky.open(database, models=ScriptedModels()) as forky:
        join_team(forky, team)
        yield forky, team
    team.close()


def test_a_backup_made_while_everything_is_open_is_put_back_whole(database: Path, tmp_path: Path) -> None:
    with running(tmp_path) as (forky, team):
        ada, ben = team.members.add("Ada", Role.OWNER), team.members.add("Ben", Role.EDITOR)
        chat = talk(member_view(forky, team, ada.id).create("Boats"), "as it was")
        cookie = team.sessions.open(ben.id)
        made = back_up(tmp_path / "backups", team, database, copied=forky.backup)
        assert sorted(made.files) == ["main.duckdb", "people.sqlite"]
        assert not list(tmp_path.glob("*backup-*.duckdb")), "no copy is left beside the file"
        talk(member_view(forky, team, ada.id).conversation(chat.id), "and later")
        team.members.remove(ben.id, by=ada.id)
        with pytest.raises(StoreBusy):
            restore(read_backup(made.folder), database, "main")
    assert restore(read_backup(made.folder), database, "main") == []
    with running(tmp_path) as (forky, team):
        assert team.members.role_of(ben.id) is Role.EDITOR
        assert team.sessions.find(cookie) is None, "it was ended after the backup"
        assert texts(member_view(forky, team, ada.id).conversation(chat.id)) == ["as it was"]
        assert forky.verify().clean
    assert list(tmp_path.glob("forky.before-restore*")), "what was there is kept"


def test_a_backup_of_an_earlier_version_puts_back_one_workspace_and_names_the_others(tmp_path: Path) -> None:
    """It has several workspaces and their titles."""
    database = tmp_path / "forky.duckdb"
    with running(tmp_path) as (forky, team):
        ada = team.members.add("Ada", Role.OWNER)
        talk(member_view(forky, team, ada.id).create("Boats"), "hello")
        made = back_up(tmp_path / "backups", team, database, copied=forky.backup)
    club = "c1ab000000000001.duckdb"
    shutil.copy(made.folder / "main.duckdb", made.folder / club)
    told = json.loads((made.folder / LIST).read_text("utf-8"))
    told["files"][club] = told["files"]["main.duckdb"]
    told["titles"] = {"main": "First workspace", "c1ab000000000001": "The boat club"}
    (made.folder / LIST).write_text(json.dumps(told), "utf-8")
    assert restore(read_backup(made.folder), database, "main") == [club]
    assert restore(read_backup(made.folder), tmp_path / "club" / club, "c1ab000000000001") == ["main.duckdb"]
    with Forky.open(tmp_path / "club" / club) as forky:
        assert [one.title for one in forky.conversations()] == ["Boats"]
    with pytest.raises(NotFound, match="does not have the workspace"):
        restore(read_backup(made.folder), tmp_path / "x.duckdb", "0000000000000000")


def test_a_backup_that_is_incomplete_or_was_changed_is_refused(tmp_path: Path) -> None:
    with running(tmp_path) as (forky, team):
        ada = team.members.add("Ada", Role.OWNER)
        talk(member_view(forky, team, ada.id).create("Boats"), "hello")
        made = back_up(tmp_path / "b", team, tmp_path / "forky.duckdb", copied=forky.backup)
    with (made.folder / "main.duckdb").open("ab") as file:
        file.write(b"x")
    with pytest.raises(BadContent):
        read_backup(made.folder)
    (made.folder / LIST).unlink()
    with pytest.raises(NotFound):
        read_backup(made.folder)
    assert team_file(tmp_path / "forky.duckdb").exists()
