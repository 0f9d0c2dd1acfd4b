"""The tables for analysis of several workspaces, each from wherever it is kept."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from forky_core.store.analysis.query import ask, opened
from forky_core.store.contract import Store
from forky_core.team.roles import Role
from forky_core.team.team_workspaces import WORKSPACE
from forky_core.workspaces.nightly_tables import MARK, NightlyTables
from tests.analysis.test_partitions import NIGHT
from tests.hangs import eventually
from tests.workspaces.building import Building


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


def _store(here: Building, workspace: str) -> Store:
    return here.whole(workspace).store
