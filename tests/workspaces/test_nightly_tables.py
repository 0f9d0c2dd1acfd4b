"""The tables for analysis of several workspaces, each from wherever it is kept."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from forky_core.cli.parser import main
from forky_core.store.analysis.query import ask, opened
from forky_core.store.contract import Store
from forky_core.team.roles import Role
from forky_core.team.team_workspaces import WORKSPACE
from forky_core.workspaces.nightly_tables import MARK, NightlyTables
from tests.analysis.test_partitions import NIGHT
from tests.hangs import eventually
from tests.store.postgresql.server import TEMPLATE, Server
from tests.workspaces.building import Building, building


def test_every_workspace_is_in_the_folder_with_what_it_has_and_nothing_else(
    here: Building, tmp_path: Path
) -> None:
    ada = here.person("Ada", Role.OWNER)
    club = here.make("Club", ada)
    here.first.create("In the first one").say("Hello.")
    here.whole(club).create("In the club").say("Only here.")
    lake = tmp_path / "lake"

    stores = {id: partial(_store, here, id) for id in (WORKSPACE, club)}
    nightly = NightlyTables(lake, NIGHT, lambda: stores, soon=0.01)
    eventually((lake / MARK).exists)
    nightly.close()
    with opened(lake) as connection:
        titles = ask(connection, "SELECT workspace, title FROM conversations ORDER BY ALL").rows
        said = ask(connection, "SELECT workspace FROM messages WHERE text = 'Only here.'").rows
    assert sorted(titles) == sorted([(WORKSPACE, "In the first one"), (club, "In the club")])
    assert said == [(club,)]


def test_commands_ask_one_of_the_workspaces_on_a_server(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = server.database(TEMPLATE)
    with building(tmp_path, url=url) as here:
        club = here.make("Club", here.person("Ada", Role.OWNER))
        here.first.create("In the first one").say("Hello.")
        here.whole(club).create("In the club").say("Only here.")
        command = ["--database", url, "--workspace", "Club"]
        assert main([*command, "sql", "SELECT title FROM conversations", "--csv"]) == 0
        assert capsys.readouterr().out.splitlines() == ["title", "In the club"]
        assert main([*command, "tables", f"{tmp_path / 'lake'}/"]) == 0
        assert main([*command[:2], "tables", f"{tmp_path / 'lake'}/"]) == 0
        assert [one.event for one in here.team.of(club).audit.entries()][-1] == "tables exported"
    with opened(tmp_path / "lake") as connection:
        found = ask(connection, "SELECT workspace, title FROM conversations").rows
    assert sorted(found) == sorted([(WORKSPACE, "In the first one"), (club, "In the club")])
    server.drop(url)


def _store(here: Building, workspace: str) -> Store:
    return here.whole(workspace).store
