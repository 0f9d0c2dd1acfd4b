"""`forky admin workspaces …` and `--workspace`: the workspaces of a team's server, from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forky_core.forky import Forky
from forky_core.team.members import Member
from forky_core.team.roles import Role
from forky_core.team.team import Team, team_file
from forky_core.team.views import join_team
from tests.builders import talk
from tests.cli.conftest import Ended

Run = Callable[..., Ended]


@pytest.fixture
def team(database: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Team]:
    monkeypatch.setenv("FORKY_WORKSPACES", str(database.parent / "workspaces"))
    Forky.open(database).close()
    opened = Team(team_file(database))
    yield opened
    opened.close()


@pytest.fixture
def ada(team: Team) -> Member:
    return team.members.add("Ada", Role.OWNER)


def test_a_workspace_is_made_renamed_archived_and_opened_again(forky: Run, team: Team, ada: Member) -> None:
    made = json.loads(forky("admin", "workspace", "make", "The boat club", "--owner", "ada", "--json").out)
    id = made["id"]
    assert [(one.title, role) for one, role in team.workspaces.of(ada.id)][1] == ("The boat club", Role.OWNER)
    listed = forky("admin", "workspaces").out.splitlines()
    assert (
        listed[0].startswith("main ") and listed[1].startswith(id) and "The boat club, 1 member" in listed[1]
    )
    assert "The rowing club" in forky("admin", "workspace", "rename", "the boat club", "The rowing club").out
    assert forky("admin", "workspace", "archive", id).code == 0
    team.database.look_again()
    assert not team.workspaces.is_open(id)
    assert "There is no workspace" in forky("admin", "workspace", "archive", id).err
    assert "open again" in forky("admin", "workspace", "open", "The rowing club").out
    team.database.look_again()
    assert team.workspaces.is_open(id)
    refused = forky("admin", "workspace", "archive", "main")
    assert refused.code != 0 and "cannot be archived" in refused.err
    assert "no workspace “Nowhere”" in forky("admin", "workspace", "rename", "Nowhere", "x").err
    assert "Nobody here is" in forky("admin", "workspace", "make", "x", "--owner", "zoe").err


def test_workspaces_are_made_where_the_operator_has_named_a_folder(
    forky: Run, team: Team, ada: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FORKY_WORKSPACES")
    refused = forky("admin", "workspace", "make", "The boat club", "--owner", ada.handle)
    assert refused.code != 0 and "FORKY_WORKSPACES" in refused.err and len(team.workspaces.all()) == 1


def test_every_command_works_in_the_workspace_that_is_named(
    forky: Run, team: Team, ada: Member, database: Path
) -> None:
    id = team.workspaces.make("The boat club", owner=ada.id, by=ada.id).id
    team.workspaces.make("Empty", owner=ada.id, by=ada.id)
    with Forky.open(database.parent / "workspaces" / f"{id}.duckdb") as club:
        talk(club.create("Keys"), "Where is it?")
    assert "Keys" in forky("--workspace", "the boat club", "list").out
    assert "Keys" in forky("--workspace", id, "list").out
    assert "Keys" not in forky("list").out
    assert forky("--workspace", "Nowhere", "list").code != 0
    assert forky("--workspace", "The boat club", "verify").code == 0
    ben = team.members.add("Ben", Role.EDITOR)
    assert "ben" not in forky("--workspace", "The boat club", "admin", "people").out
    address = forky("--workspace", "The boat club", "admin", "invite", "viewer").out.splitlines()[0]
    secret = address.rpartition("/")[2]
    assert team.invitations.workspace_of(secret) == id
    assert "ben" in forky("admin", "people").out and ben.handle == "ben"


def test_a_backup_of_one_and_of_all_is_put_back(forky: Run, team: Team, ada: Member, database: Path) -> None:
    id = team.workspaces.make("The boat club", owner=ada.id, by=ada.id).id
    file = database.parent / "workspaces" / f"{id}.duckdb"
    with Forky.open(file) as club:
        chat = talk(club.create("Keys"), "Where is it?").id
    folder = database.parent / "backups"
    everything = json.loads(forky("admin", "backup", str(folder), "--json").out)
    assert set(everything["files"]) == {"main.duckdb", f"{id}.duckdb", "people.sqlite"}
    one = json.loads(forky("admin", "backup", str(folder), "--only", "The boat club", "--json").out)
    assert set(one["files"]) == {f"{id}.duckdb", "people.sqlite"} and one["folder"] != everything["folder"]
    with Forky.open(file) as club:
        talk(club.conversation(chat), "later")
        busy = forky("admin", "backup", str(folder))
        assert busy.code != 0 and "makes no backup when it is asked" in busy.err
        assert forky("admin", "restore", one["folder"]).code != 0
    said = forky("admin", "restore", one["folder"], "--only", "The boat club")
    assert said.code == 0 and said.out.startswith("1 workspace is as of ")
    with Forky.open(file) as club:
        assert [message.text for message in club.conversation(chat).path()] == ["Where is it?"]
    team.close()
    assert forky("admin", "restore", everything["folder"]).out.startswith("2 workspaces are as of ")
    assert "no complete backup" in forky("admin", "restore", str(database.parent)).err


def test_a_command_in_a_further_workspace_knows_its_team(
    forky: Run, team: Team, ada: Member, database: Path
) -> None:
    """Its audit log names what is exported."""
    id = team.workspaces.make("The boat club", owner=ada.id, by=ada.id).id
    with Forky.open(database.parent / "workspaces" / f"{id}.duckdb") as club:
        chat = talk(club.create("Keys"), "Where is it?", "There.")
        join_team(club, team.of(id))
    assert forky("--workspace", "The boat club", "export", "Keys", "--as", "markdown").code == 0
    entry = team.audit.entries()[-1]
    about = {"conversation": chat.id, "form": "markdown", "workspace": id}
    assert (entry.event, json.loads(entry.about)) == ("conversation exported", about)
