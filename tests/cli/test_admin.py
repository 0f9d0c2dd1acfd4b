"""`forky admin` and `forky inbox`: the people of a team, also while a server has the database open."""

from __future__ import annotations

import sqlite3
from functools import partial
from pathlib import Path

import pytest

from forky_core.cli import admin_backup
from forky_core.conversation.allowance.account import Allowance
from forky_core.conversation.allowance.amounts import NANO
from forky_core.forky import Forky
from forky_core.people import team_file
from forky_core.people.account import reset_password
from forky_core.people.backup.backup_desk import ask_for_backup
from forky_core.people.members import Identity, Member
from forky_core.people.roles import Role
from forky_core.people.team import Team
from tests.builders import talk, texts
from tests.cli.conftest import Ended, Run
from tests.people.former_server import CLUB, former_server


@pytest.fixture
def ada(team: Team) -> Member:
    return team.members.add("Ada", Role.OWNER)


@pytest.fixture
def bob(team: Team, ada: Member) -> Member:
    return team.members.add("Bob", Role.EDITOR, by=ada.id)


def lines(ended: Ended) -> list[dict[str, object]]:
    assert ended.code == 0, ended.err
    return ended.rows


def test_people_are_listed(forky: Run, team: Team, ada: Member, bob: Member) -> None:
    team.sessions.open(bob.id)
    said = forky("admin people").out.splitlines()
    assert said[0].startswith("ada ") and "owner" in said[0] and said[0].endswith("Ada, 0 browsers")
    assert said[1].startswith("bob ") and "editor" in said[1] and said[1].endswith("Bob, 1 browser")
    assert [(one["id"], one["role"], one["sessions"]) for one in lines(forky("admin people --json"))] == [
        (ada.id, "owner", 0),
        (bob.id, "editor", 1),
    ]


def test_whoever_had_a_passkey_alone_is_named(forky: Run, team: Team, ada: Member, bob: Member) -> None:
    team.members.keep_identity(bob.id, Identity("passkey", "a key", "{}"))
    team.members.keep_identity(ada.id, Identity("passkey", "another", "{}"))
    team.members.keep_identity(ada.id, Identity("password", "ada", "a hash"))
    assert "had no other way: bob." in forky("admin people").err
    assert len(lines(forky("admin people --json"))) == 2


def test_an_invitation_is_printed_once(forky: Run, team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    made = forky("admin invite commenter --uses 3 --days 2")
    address = made.out.splitlines()[0]
    assert address.startswith("http://127.0.0.1:8501/join/")
    opened = team.invitations.open(address.rpartition("/")[2])
    assert opened is not None and (opened.role, opened.uses, opened.made_by) == (Role.COMMENTER, 3, "")
    assert "a commenter, until" in made.out
    monkeypatch.setenv("FORKY_ORIGINS", "https://forky.example")
    (told,) = lines(forky("admin invite owner --email Eve@Example.org --json"))
    assert (
        str(told["address"]).startswith("https://forky.example/join/") and told["email"] == "eve@example.org"
    )


def test_a_role_is_given_and_the_last_owner_stays_one(
    forky: Run, team: Team, ada: Member, bob: Member
) -> None:
    assert forky("admin role bob viewer").out == "Bob is a viewer from now on.\n"
    assert team.members.role_of(bob.id) is Role.VIEWER
    refused = forky("admin role ada editor")
    assert refused.code != 0 and "keeps at least one owner" in refused.err
    assert forky("admin remove ada").code != 0 and team.members.role_of(ada.id) is Role.OWNER
    assert "There are: viewer, commenter, editor, owner." in forky("admin role bob king").err
    team.database.look_again()
    count = team.audit.count()
    assert forky("admin role ada owner").out == "Ada is an owner already.\n"
    team.database.look_again()
    assert team.audit.count() == count


def test_somebody_is_signed_out_and_removed_while_the_server_runs(
    forky: Run, team: Team, bob: Member
) -> None:
    token = team.sessions.open(bob.id)
    (told,) = lines(forky("admin sign-out bob --json"))
    assert told["id"] == bob.id and team.sessions.find(token) is None
    assert forky("admin remove bob").out == "Bob is no longer a member.\n"
    assert not team.members.role_of(bob.id)
    assert "Nobody here is “bob”." in forky("admin remove bob").err


def test_the_audit_log_is_printed_and_checked(forky: Run, team: Team, database: Path, bob: Member) -> None:
    forky("admin role bob owner")
    said = forky("admin audit")
    assert said.code == 0 and said.out.splitlines()[-1].endswith("The operator made Bob (bob) an owner")
    assert len(forky("admin audit --last 1").out.splitlines()) == 1
    every = lines(forky("admin audit --last 0 --json"))
    assert [one["number"] for one in every] == list(range(1, team.audit.count() + 1))
    with sqlite3.connect(team_file(database)) as opened:
        opened.execute("UPDATE audit SET about = '{}' WHERE number = 2")
    broken = forky("admin audit")
    assert broken.code == 1 and "entry 2 was changed" in broken.err


def test_a_database_without_a_team_gets_none(forky: Run, database: Path) -> None:
    refused = forky("admin people")
    assert refused.code != 0 and "FORKY_TEAM=on" in refused.err
    assert not team_file(database).exists()


def test_a_link_to_another_password_is_printed_also_for_the_only_owner(
    forky: Run, team: Team, ada: Member
) -> None:
    address = forky("admin reset-password ada").out.splitlines()[0]
    base, _, secret = address.rpartition("/")
    assert base == "http://127.0.0.1:8501/sign-in/reset/open"
    identity = reset_password(team, secret, "a hash")
    assert list(team.members.identities(ada.id)) == [identity]
    assert (identity.issuer, identity.subject) == ("password", "ada")
    (told,) = lines(forky("admin reset-password ada --address https://x.example --json"))
    assert str(told["address"]).startswith("https://x.example/sign-in/reset/open/")
    assert "Nobody here is" in forky("admin reset-password eve").err


def test_an_allowance_is_set_shown_and_taken_away(forky: Run, team: Team, bob: Member) -> None:
    assert forky("admin allowance everybody").out == "everybody: no limit\n"
    forky("admin allowance everybody --dollars-a-day '$2.50' --answers-in-all 100")
    shown = forky("admin allowance BOB --answers-in-all none --unpriced yes").out
    assert shown == "BOB: any answers in all, models of unknown price count as answers\n"
    team.database.look_again()
    assert team.allowances.of(bob.id) == Allowance(None, round(2.5 * NANO), None, None, unpriced=True)
    assert forky("admin allowance bob --dollars-in-all 5 --json").json == {
        "handle": "bob",
        "allowance": {"answers_in_all": None, "dollars_in_all": 5.0, "unpriced": True},
    }
    gone = ("--answers-in-all", "usual", "--dollars-in-all", "usual", "--unpriced", "no")
    forky("admin allowance bob", *gone)
    team.database.look_again()
    assert team.allowances.of(bob.id) == Allowance(None, round(2.5 * NANO), 100)
    assert team.audit.page(1, 1)[0].person == ""


@pytest.mark.parametrize("amount", ["-5", "nan", "1e400", "much", "0.0000000001", "9999999999"])
def test_amounts_that_make_no_sense_are_refused_in_a_sentence(
    forky: Run, team: Team, bob: Member, amount: str
) -> None:
    ended = forky("admin allowance bob", f"--dollars-in-all={amount}")
    assert ended.code != 0 and ended.err.strip() and "Traceback" not in ended.err
    assert team.allowances.own(bob.id) == {}
    ended = forky("admin allowance eve --answers-a-day 5")
    assert ended.code != 0 and "Nobody here is “eve”" in ended.err


def test_an_inbox_lists_what_is_not_read_and_marks_it(forky: Run, team: Team, ada: Member) -> None:
    ben = team.members.add("Ben", Role.EDITOR)
    team.members.set_role(ben.id, Role.VIEWER, by=ada.id)
    said = forky("inbox ben").out
    assert "Ada made you a viewer of this workspace." in said and "/people" in said
    (told,) = forky("inbox ben --json").rows
    assert (told["kind"], told["read"], told["address"]) == ("role", False, "/people")
    forky("inbox ben --mark-read")
    assert team.inbox.unread(ben.id) == 0
    assert forky("inbox ben").out == "Everything is read.\n"
    assert "Ada made you" in forky("inbox ben --all").out
    assert "Nobody here is “eve”." in forky("inbox eve").err
    assert forky("inbox ada").out == "Everything is read.\n"


def test_commands_make_one_and_put_it_back(
    forky: Run, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin_backup, "ask_for_backup", partial(ask_for_backup, taken_within=0.1))
    Team(team_file(database)).close()
    with Forky.open(database) as opened:
        chat = talk(opened.create("Keys"), "Where is it?").id
    folder = database.parent / "backups"
    made = forky("admin backup", str(folder), "--json").json
    assert set(made["files"]) == {"main.duckdb", "people.sqlite"}
    with Forky.open(database) as opened:
        talk(opened.conversation(chat), "later")
        busy = forky("admin backup", str(folder))
        assert busy.code and "makes no backup when it is asked" in busy.err
        assert forky("admin restore", made["folder"]).code
    said = forky("admin restore", made["folder"])
    assert said.code == 0 and said.out.startswith("Everything is as of ")
    with Forky.open(database) as opened:
        assert texts(opened.conversation(chat)) == ["Where is it?"]
    assert "no complete backup" in forky("admin restore", str(database.parent)).err


def test_commands_name_the_others_and_the_one_that_they_mean(
    forky: Run, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = former_server(database, database.parent / "workspaces")
    listed = forky("admin people")
    assert listed.out.startswith("ada ") and "ben" not in listed.out
    assert f"2 other workspaces are in {files.folder}" in listed.err and CLUB in listed.err
    refused = forky("--workspace 'The boat club' list")
    assert refused.code and "a file is one workspace" in refused.err
    monkeypatch.setenv("FORKY_WORKSPACES", "on")
    assert "FORKY_WORKSPACES is set, and has no effect." in forky("list").err
    assert "Ben's own" in forky("--database", f"{files.folder}/{CLUB}.duckdb", "list").out
