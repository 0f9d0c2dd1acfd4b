"""A backup has every workspace and the people; one workspace or all of it can be put back."""

from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.model.errors import BadContent, NotFound, StoreBusy
from forky_core.team.roles import Role
from forky_core.team.team import team_file
from forky_core.workspaces.copies import LIST, ServerFiles, back_up, read_backup, restore
from tests.builders import talk, texts
from tests.workspaces.building import Building, building


def files_of(folder: Path) -> ServerFiles:
    return ServerFiles(folder / "forky.duckdb", folder / "workspaces")


def copied(here: Building, workspace: str) -> Path:
    """A copy of a workspace that is open, as the server makes it."""
    return here.whole(workspace).backup()


def test_a_backup_made_while_everything_is_open_is_put_back_whole(tmp_path: Path) -> None:
    with building(tmp_path) as here:
        ada, ben = here.person("Ada", Role.OWNER), here.person("Ben")
        club = here.make("The boat club", ada)
        ids = {}
        for workspace in ("main", club):
            ids[workspace] = talk(here.seen_by(ada, workspace).create("Boats"), "as it was").id
        cookie = here.team.sessions.open(ben.id)
        made = back_up(
            tmp_path / "backups", here.team, files_of(tmp_path), copied=lambda id: copied(here, id)
        )
        assert sorted(made.files) == sorted(["main.duckdb", f"{club}.duckdb", "people.sqlite"])
        assert not list(tmp_path.glob("*backup-*.duckdb")), "no copy is left beside the files"
        for workspace, id in ids.items():
            talk(here.seen_by(ada, workspace).conversation(id), "and later")
        here.team.members.remove(ben.id, by=ada.id)
        with pytest.raises(StoreBusy):
            restore(read_backup(made.folder), files_of(tmp_path))
    assert sorted(restore(read_backup(made.folder), files_of(tmp_path))) == sorted(["main", club])
    with building(tmp_path) as here:
        assert here.team.members.role_of(ben.id) is Role.EDITOR
        assert here.team.sessions.find(cookie) is None, "it was ended after the backup"
        for workspace, id in ids.items():
            assert texts(here.seen_by(ada, workspace).conversation(id)) == ["as it was"]
            assert here.whole(workspace).verify().clean
    assert list(tmp_path.glob("forky.before-restore*")), "what was there is kept"


def test_one_workspace_is_put_back_and_its_private_conversations_stay_private(tmp_path: Path) -> None:
    with building(tmp_path) as here:
        ada, ben = here.person("Ada", Role.OWNER), here.person("Ben")
        club = here.make("The boat club", ada)
        here.join(club, ben)
        bens = talk(here.seen_by(ben, club).create("Ben's own"), "private")
        kept = talk(here.seen_by(ada).create("Boats"), "first")
        made = back_up(
            tmp_path / "backups", here.team, files_of(tmp_path), copied=lambda id: copied(here, id)
        )
        bens.trash()
        here.seen_by(ben, club).purge(bens.id)
        talk(here.seen_by(ada).conversation(kept.id), "second")
    assert restore(read_backup(made.folder), files_of(tmp_path), only=club) == [club]
    with building(tmp_path) as here:
        assert texts(here.seen_by(ben, club).conversation(bens.id)) == ["private"]
        with pytest.raises(NotFound):
            here.seen_by(ada, club).conversation(bens.id)
        assert texts(here.seen_by(ada).conversation(kept.id)) == ["first", "second"]


def test_a_backup_that_is_incomplete_or_was_changed_is_refused(tmp_path: Path) -> None:
    with building(tmp_path) as here:
        ada = here.person("Ada", Role.OWNER)
        talk(here.seen_by(ada).create("Boats"), "hello")
        made = back_up(tmp_path / "b", here.team, files_of(tmp_path), copied=lambda id: copied(here, id))
    with (made.folder / "main.duckdb").open("ab") as file:
        file.write(b"x")
    with pytest.raises(BadContent):
        read_backup(made.folder)
    (made.folder / LIST).unlink()
    with pytest.raises(NotFound):
        read_backup(made.folder)
    assert team_file(tmp_path / "forky.duckdb").exists()
