"""Several workspaces in one PostgreSQL database, which two servers use at the same time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from forky_core.cli.parser import main
from forky_core.gateway.access.person import viewer
from forky_core.model.errors import NotFound
from forky_core.store.contract import StoreInFile, StoreOnServer
from forky_core.team.roles import Role
from pages.ui import workspace as served
from tests.builders import talk, texts
from tests.hangs import eventually
from tests.workspaces.building import Building, building


@pytest.fixture
def two(tmp_path: Path, url: str) -> Iterator[tuple[Building, Building]]:
    with building(tmp_path, url=url) as one, building(tmp_path, url=url) as other:
        yield one, other


def test_what_one_makes_and_writes_the_other_has(two: tuple[Building, Building]) -> None:
    one, other = two
    ada = one.person("Ada", Role.OWNER)
    club = one.make("The boat club", ada)
    chat = talk(one.seen_by(ada, club).create("Boats"), "hello")
    assert texts(other.seen_by(ada, club).conversation(chat.id)) == ["hello"]
    talk(other.seen_by(ada, club).conversation(chat.id), "hi")
    assert texts(one.seen_by(ada, club).conversation(chat.id)) == ["hello", "hi"]
    assert one.first.conversations() == other.first.conversations() == ()
    with pytest.raises(NotFound):
        other.seen_by(ada).conversation(chat.id)
    store = one.whole(club).store
    assert isinstance(store, StoreOnServer) and not isinstance(store, StoreInFile)
    assert one.whole(club).server == one.first.server and one.whole(club).location is None


def test_what_the_other_changes_is_heard_while_the_workspace_is_closed_here(
    two: tuple[Building, Building],
) -> None:
    one, other = two
    ada = one.person("Ada", Role.OWNER)
    club = one.make("The boat club", ada)
    chat = talk(one.seen_by(ada, club).create("Boats"), "hello")
    heard: list[str] = []
    stale: list[str] = []
    one.others.hear(heard.append)
    one.others.sleep()
    assert club not in one.others.awake
    one.others.changed_elsewhere = stale.append
    heard.clear()
    talk(other.seen_by(ada, club).conversation(chat.id), "hi")
    eventually(lambda: set(heard) == {f"{club}/{chat.id}"} and set(stale) == {club})
    assert club not in one.others.awake


def test_a_stream_that_waits_is_told_the_version_that_the_other_server_has_reached(
    two: tuple[Building, Building], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = two
    ada = one.person("Ada", Role.OWNER)
    club = one.make("The boat club", ada)
    with _served(monkeypatch, one):
        chat = talk(served.seen_by(ada.id, club).create("Boats"), "hello")
        asked = viewer(ada.id, club)
        before = served.version_of(chat.id, asked)
        one.others.sleep()
        assert served.version_of(chat.id, asked) == before and not one.others.awake
        talk(other.seen_by(ada, club).conversation(chat.id), "hi")
        eventually(lambda: served.version_of(chat.id, asked) == (before or 0) + 1)


def test_many_workspaces_hold_few_connections(tmp_path: Path, url: str) -> None:
    with building(tmp_path, url=url, most=5) as here:
        ada = here.person("Ada", Role.OWNER)
        views = [here.seen_by(ada, here.make(f"Number {number}", ada)) for number in range(25)]
        chats = [talk(view.create("Boats"), "hello") for view in views]
        for view, chat in zip(views, chats, strict=True):
            assert texts(view.conversation(chat.id)) == ["hello"]
        with psycopg.connect(url) as asking:
            ((held,),) = asking.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            ).fetchall()
        # Those that write, the pool, what hears and tells, and the people's.
        assert held <= 6 + 12 + 2, held


def test_every_workspace_moves_to_a_server_and_back_with_the_people(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with building(tmp_path) as here:
        ada = here.person("Ada", Role.OWNER)
        ids = [here.make(title, ada) for title in ("The boat club", "The old club", "Nobody was there")]
        chats = [talk(here.seen_by(ada, id).create("Boats"), "hello", "hi") for id in ids[:2]]
        here.team.workspaces.archive(ids[1], archived=True, by=ada.id)
    monkeypatch.setenv("FORKY_WORKSPACES", "on")
    assert main(["move", str(tmp_path / "forky.duckdb"), url, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["workspaces"] == 3 and told["copied"] == 4 and told["people"] > 0
    with building(tmp_path / "nowhere", url=url) as there:
        assert texts(there.seen_by(ada, ids[0]).conversation(chats[0].id)) == ["hello", "hi"]
        with pytest.raises(NotFound):
            there.whole(ids[1])
        there.team.workspaces.archive(ids[1], archived=False, by=ada.id)
        talk(there.seen_by(ada, ids[1]).conversation(chats[1].id), "again")
    back = tmp_path / "back" / "forky.duckdb"
    back.parent.mkdir()
    assert main(["move", url, str(back), "--json"]) == 0
    with building(back.parent) as again:
        assert texts(again.seen_by(ada, ids[1]).conversation(chats[1].id)) == ["hello", "hi", "again"]
    monkeypatch.setenv("FORKY_DATABASE", url)
    capsys.readouterr()
    assert main(["admin", "workspaces"]) == 0 and main(["--workspace", "The boat club", "list"]) == 0
    said = capsys.readouterr().out
    assert "The old club" in said and "Boats" in said
    assert main(["admin", "backup", str(tmp_path / "copy")]) != 0
    assert "backed up by its own means" in capsys.readouterr().err


@contextmanager
def _served(monkeypatch: pytest.MonkeyPatch, here: Building) -> Iterator[None]:
    """The functions of pages/ui/workspace.py, for this server."""
    with monkeypatch.context() as patch:
        patch.setenv("FORKY_WORKSPACES", "on")
        patch.setattr(served, "TEAM", here.team)
        patch.setattr(served, "_opened", [here.first])
        patch.setattr(served, "_others", [here.others])
        for kept in ("_views", "_versions"):
            patch.setattr(served, kept, {})
        here.others.rested, here.others.changed_elsewhere = served._forget_views, served._forget_versions
        yield
