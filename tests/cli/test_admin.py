"""`forky admin`: the people of a team, from the command line, also while a server has the database open."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forky_core.forky import Forky
from forky_core.people.account import reset_password
from forky_core.people.members import Identity, Member
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
def ada(team: Team) -> Member:
    return team.members.add("Ada", Role.OWNER)


@pytest.fixture
def bob(team: Team, ada: Member) -> Member:
    return team.members.add("Bob", Role.EDITOR, by=ada.id)


def lines(ended: Ended) -> list[dict[str, object]]:
    assert ended.code == 0, ended.err
    return [json.loads(line) for line in ended.out.splitlines()]


def test_people_are_listed(forky: Run, team: Team, ada: Member, bob: Member) -> None:
    team.sessions.open(bob.id)
    said = forky("admin", "people").out.splitlines()
    assert said[0].startswith("ada ") and "owner" in said[0] and said[0].endswith("Ada, 0 browsers")
    assert said[1].startswith("bob ") and "editor" in said[1] and said[1].endswith("Bob, 1 browser")
    assert [
        (one["id"], one["role"], one["sessions"]) for one in lines(forky("admin", "people", "--json"))
    ] == [
        (ada.id, "owner", 0),
        (bob.id, "editor", 1),
    ]


def test_whoever_had_a_passkey_alone_is_named(forky: Run, team: Team, ada: Member, bob: Member) -> None:
    team.members.keep_identity(bob.id, Identity("passkey", "a key", "{}"))
    team.members.keep_identity(ada.id, Identity("passkey", "another", "{}"))
    team.members.keep_identity(ada.id, Identity("password", "ada", "a hash"))
    assert "had no other way: bob." in forky("admin", "people").err
    assert len(lines(forky("admin", "people", "--json"))) == 2


def test_an_invitation_is_printed_once(forky: Run, team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    made = forky("admin", "invite", "commenter", "--uses", "3", "--days", "2")
    address = made.out.splitlines()[0]
    assert address.startswith("http://127.0.0.1:8501/join/")
    opened = team.invitations.open(address.rpartition("/")[2])
    assert opened is not None and (opened.role, opened.uses, opened.made_by) == (Role.COMMENTER, 3, "")
    assert "a commenter, until" in made.out
    monkeypatch.setenv("FORKY_ORIGINS", "https://forky.example")
    (told,) = lines(forky("admin", "invite", "owner", "--email", "Eve@Example.org", "--json"))
    assert (
        str(told["address"]).startswith("https://forky.example/join/") and told["email"] == "eve@example.org"
    )


def test_a_role_is_given_and_the_last_owner_stays_one(
    forky: Run, team: Team, ada: Member, bob: Member
) -> None:
    assert forky("admin", "role", "bob", "viewer").out == "Bob is a viewer from now on.\n"
    assert team.members.role_of(bob.id) is Role.VIEWER
    refused = forky("admin", "role", "ada", "editor")
    assert refused.code != 0 and "keeps at least one owner" in refused.err
    assert forky("admin", "remove", "ada").code != 0 and team.members.role_of(ada.id) is Role.OWNER
    assert "There are: viewer, commenter, editor, owner." in forky("admin", "role", "bob", "king").err
    team.database.look_again()
    count = team.audit.count()
    assert forky("admin", "role", "ada", "owner").out == "Ada is an owner already.\n"
    team.database.look_again()
    assert team.audit.count() == count


def test_somebody_is_signed_out_and_removed_while_the_server_runs(
    forky: Run, team: Team, bob: Member
) -> None:
    token = team.sessions.open(bob.id)
    (told,) = lines(forky("admin", "sign-out", "bob", "--json"))
    assert told["id"] == bob.id and team.sessions.find(token) is None
    assert forky("admin", "remove", "bob").out == "Bob is no longer a member.\n"
    assert not team.members.role_of(bob.id)
    assert "Nobody here is “bob”." in forky("admin", "remove", "bob").err


def test_the_audit_log_is_printed_and_checked(forky: Run, team: Team, database: Path, bob: Member) -> None:
    forky("admin", "role", "bob", "owner")
    said = forky("admin", "audit")
    assert said.code == 0 and said.out.splitlines()[-1].endswith("The operator made Bob (bob) an owner")
    assert len(forky("admin", "audit", "--last", "1").out.splitlines()) == 1
    every = lines(forky("admin", "audit", "--last", "0", "--json"))
    assert [one["number"] for one in every] == list(range(1, team.audit.count() + 1))
    with sqlite3.connect(team_file(database)) as opened:
        opened.execute("UPDATE audit SET about = '{}' WHERE number = 2")
    broken = forky("admin", "audit")
    assert broken.code == 1 and "entry 2 was changed" in broken.err


def test_a_database_without_a_team_gets_none(forky: Run, database: Path) -> None:
    refused = forky("admin", "people")
    assert refused.code != 0 and "FORKY_TEAM=on" in refused.err
    assert not team_file(database).exists()


def test_a_link_to_another_password_is_printed_also_for_the_only_owner(
    forky: Run, team: Team, ada: Member
) -> None:
    address = forky("admin", "reset-password", "ada").out.splitlines()[0]
    base, _, secret = address.rpartition("/")
    assert base == "http://127.0.0.1:8501/sign-in/reset/open"
    identity = reset_password(team, secret, "a hash")
    assert list(team.members.identities(ada.id)) == [identity]
    assert (identity.issuer, identity.subject) == ("password", "ada")
    (told,) = lines(forky("admin", "reset-password", "ada", "--address", "https://x.example", "--json"))
    assert str(told["address"]).startswith("https://x.example/sign-in/reset/open/")
    assert "Nobody here is" in forky("admin", "reset-password", "eve").err
