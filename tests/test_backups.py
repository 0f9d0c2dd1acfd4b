"""Backups hold conversations and people of one moment, are made while an app runs, and can be put back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from forky_core.backups import (
    BackupDesk,
    ask_for_backup,
    back_up,
    back_up_database,
    backups,
    copied_to,
    restore,
)
from forky_core.forky import Forky
from forky_core.model.errors import InTheWay, NotFound, StoreBusy, StoreDamaged
from forky_core.team.roles import Role
from forky_core.team.team import Team, team_file
from forky_core.team.views import join_team, member_view
from tests.builders import ScriptedModels


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "forky.duckdb"


@pytest.fixture
def running(place: Path) -> Iterator[tuple[Forky, Team]]:
    """An app as it runs: the database and the people are open."""
    team = Team(team_file(place))
    with Forky.open(place, models=ScriptedModels()) as forky:
        yield forky, team
    team.close()


def _read(place: Path) -> tuple[list[str], list[str]]:
    """The titles of the conversations, and the names of the people."""
    team = Team(team_file(place))
    with Forky.open(place, models=ScriptedModels()) as forky:
        join_team(forky, team)
        titles = sorted(one.title for one in forky.conversations())
        assert forky.verify().clean and team.audit.first_broken() is None
    names = sorted(member.name for member in team.members.all())
    team.close()
    return titles, names


def test_a_running_app_makes_the_backup_that_another_process_asks_for(
    place: Path, running: tuple[Forky, Team]
) -> None:
    forky, team = running
    ada = team.members.add("Ada", Role.OWNER)
    member_view(forky, team, ada.id).create("Boats")
    desk = BackupDesk(team, lambda: forky)
    try:
        made = back_up_database(place)
    finally:
        desk.close()
    assert made.people is not None and [one.conversations for one in backups(place)] == [made.conversations]
    forky.create("Later")
    assert _read(made.conversations) == (["Boats"], ["Ada"])
    assert "backed up" in {entry.event for entry in team.audit.entries()}


def test_without_an_answer_it_says_what_to_do(running: tuple[Forky, Team]) -> None:
    _, team = running
    with pytest.raises(InTheWay, match="makes no backup when it is asked"):
        ask_for_backup(team, taken_within=0.2)


def test_a_backup_is_of_one_moment_while_people_work(place: Path, running: tuple[Forky, Team]) -> None:
    forky, team = running
    ada = team.members.add("Ada", Role.OWNER)
    view, ended = member_view(forky, team, ada.id), threading.Event()

    def work() -> None:
        while not ended.is_set():
            view.create("One more")

    worker = threading.Thread(target=work)
    worker.start()
    try:
        made = [back_up(forky, team) for _ in range(3)]
    finally:
        ended.set()
        worker.join()
    for backup in made:
        people = Team(team_file(backup.conversations))
        with Forky.open(backup.conversations, models=ScriptedModels()) as copy:
            for one in copy.conversations():
                assert people.sharing.of(one.id).owner == ada.id, "it would fall to the owners"
        people.close()


def test_a_backup_is_put_back_with_its_people_and_what_was_there_is_kept(place: Path) -> None:
    team = Team(team_file(place))
    with Forky.open(place, models=ScriptedModels()) as forky:
        ada = team.members.add("Ada", Role.OWNER)
        member_view(forky, team, ada.id).create("Boats")
        session = team.sessions.open(ada.id)
        made = back_up(forky, team)
        member_view(forky, team, ada.id).create("Later")
        team.members.add("Bob", Role.EDITOR)
        with pytest.raises(StoreBusy):
            restore(made.conversations, place)
        assert forky.conversations()[0].title == "Later"
    team.close()
    kept = restore(made.conversations, place)
    assert kept is not None
    assert _read(place) == (["Boats"], ["Ada"])
    assert _read(kept.conversations) == (["Boats", "Later"], ["Ada", "Bob"])
    again = Team(team_file(place))
    assert again.sessions.find(session) is not None, "whoever was signed in then is signed in"
    assert again.audit.entries()[-1].event == "restored"
    again.close()


def test_a_damaged_backup_changes_nothing(place: Path, tmp_path: Path) -> None:
    with Forky.open(place, models=ScriptedModels()) as forky:
        forky.create("Boats")
        made = back_up(forky, None)
    content = bytearray(made.conversations.read_bytes())
    content[4096:] = bytes(len(content) - 4096)
    bad = tmp_path / "bad.duckdb"
    bad.write_bytes(content)
    before = place.read_bytes()
    with pytest.raises(StoreDamaged):
        restore(bad, place)
    assert place.read_bytes() == before
    assert {file.name for file in tmp_path.iterdir()} == {place.name, bad.name, made.conversations.name}
    with pytest.raises(NotFound):
        restore(tmp_path / "none.duckdb", place)
    with pytest.raises(InTheWay):
        restore(place, place)


def test_a_backup_is_moved_to_a_folder(place: Path, tmp_path: Path) -> None:
    with Forky.open(place, models=ScriptedModels()) as forky:
        team = Team(team_file(place))
        made = copied_to(back_up(forky, team), tmp_path / "elsewhere")
        team.close()
    assert made.people is not None
    assert {file.name for file in (tmp_path / "elsewhere").iterdir()} == {
        made.conversations.name,
        made.people.name,
    }
