"""Settings on a team's server: what is the operator's is for owners; everybody has tokens and pages of their own."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from forky_core.gateway.tokens import Tokens
from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.store.analysis.query import ask, opened
from tests.builders import talk
from tests.formats.reports.links import link_to
from tests.pages.apptest import by_key, keys, said, settled
from tests.pages.teams import TeamServer, team_server
from tests.pages.workspaces import open_page
from tests.people.former_server import CLUB, former_server

OPERATORS = ("settings.default", "settings.url", "settings.key.openai", "settings.backup", "settings.verify")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[TeamServer]:
    with team_server(monkeypatch, database=tmp_path / "forky.duckdb") as opened:
        yield opened


def test_models_keys_servers_and_storage_are_for_owners(server: TeamServer, ada: Member, bob: Member) -> None:
    server.sign_in(bob)
    test = settled(open_page("settings.py"))
    assert not set(OPERATORS) & set(keys(test)) and "people.me" not in keys(test)
    assert "The owners of this workspace decide about models" in said(test)
    assert str(server.forky.location) not in said(test)
    server.sign_in(ada)
    assert set(OPERATORS) <= set(keys(settled(open_page("settings.py"))))


def test_an_owners_backup_has_the_people_too(server: TeamServer, ada: Member) -> None:
    server.sign_in(ada)
    test = settled(open_page("settings.py"))
    by_key(test, "settings.backup").click().run()
    assert "Copied everything to" in settled(test).success[0].value
    assert server.forky.location is not None
    (copy,) = server.forky.location.parent.glob("forky-backup-*/people.sqlite")
    assert copy.with_name("main.duckdb").exists()
    assert copy.stat().st_mode & 0o077 == 0, "nobody else reads it"
    with sqlite3.connect(copy) as opened:
        assert opened.execute("SELECT name FROM people").fetchall() == [("Ada",)]


def test_an_owner_reads_how_other_workspaces_of_earlier_versions_are_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = former_server(tmp_path / "forky.duckdb", tmp_path / "workspaces")
    with team_server(monkeypatch, database=tmp_path / "forky.duckdb") as server:
        monkeypatch.setenv("FORKY_DATABASE", str(tmp_path / "forky.duckdb"))
        server.sign_in(made.ada)
        test = settled(open_page("settings.py"))
        assert "2 other workspaces are in" in said(test)
        assert any(f"{made.folder}/{CLUB}.duckdb serve" in code.value for code in test.code)


def test_everybody_makes_tokens_of_their_own(server: TeamServer, ada: Member, bob: Member) -> None:
    for member, name in ((ada, "ada-tool"), (bob, "bob-tool")):
        server.sign_in(member)
        test = settled(open_page("settings.py"))
        by_key(test, "settings.token.name").set_value(name)
        by_key(test, "settings.token.make").click().run()
        assert f"The token for {name}" in said(settled(test))
    tokens = Tokens(server.forky.store)
    assert {token.name: token.person for token in tokens.all()} == {"ada-tool": ada.id, "bob-tool": bob.id}
    server.sign_in(bob)
    assert "ada-tool" not in said(settled(open_page("settings.py")))
    server.sign_in(ada)
    test = settled(open_page("settings.py"))
    assert re.search(r"bob-tool.*of Bob", said(test), re.DOTALL)
    theirs = next(token for token in tokens.all() if token.name == "bob-tool")
    by_key(test, f"settings.token.revoke.{theirs.id}").click().run()
    assert next(token for token in tokens.all() if token.id == theirs.id).revoked


def test_a_viewer_reads_who_makes_tokens_in_the_place_of_the_form(server: TeamServer, ada: Member) -> None:
    server.sign_in(server.add("Vera", Role.VIEWER))
    test = settled(open_page("settings.py"))
    assert "Commenters, editors and owners of this workspace make tokens." in said(test)
    assert "settings.token.make" not in keys(test)


def test_links_are_listed_for_who_sees_their_conversation(
    server: TeamServer, ada: Member, bob: Member
) -> None:
    forky = server.seen_by(bob)
    chat = talk(forky.create("A plan"), "hello", "hi")
    made = link_to(forky, chat, "replay")
    key = f"settings.link.revoke.{made.link.id}"
    server.sign_in(ada)
    assert key not in keys(settled(open_page("settings.py")))
    server.sign_in(bob)
    assert key in keys(settled(open_page("settings.py")))


def test_an_owners_copy_for_analysis_has_what_they_see(
    server: TeamServer, ada: Member, bob: Member, tmp_path: Path
) -> None:
    server.seen_by(ada).create("Ada's").say("Her own.")
    server.seen_by(bob).create("Bob's alone").say("What Bob keeps to himself.")
    server.sign_in(ada)
    test = settled(open_page("settings.py"))
    by_key(test, "settings.analysis.form").set_value("parquet").run()
    by_key(test, "settings.analysis.form").set_value("duckdb").run()
    offer = settled(test).session_state["settings.analysis.download.offer"]
    (tmp_path / "copy.duckdb").write_bytes(b"".join(offer.pieces()))
    with opened(tmp_path / "copy.duckdb") as connection:
        titles = {title for (title,) in ask(connection, "SELECT title FROM conversations").rows}
    assert titles == {"Ada's"}
    assert offer.person == ada.id
