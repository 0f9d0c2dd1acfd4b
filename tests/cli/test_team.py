"""Commands on the conversations of a team: they name people, and note what they export."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forky_core.forky import Forky
from forky_core.people import team_file
from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.people.views import join_team, member_view
from tests.builders import talk
from tests.cli.conftest import Run


@pytest.fixture
def people(database: Path) -> tuple[Member, Member]:
    """Ada's conversation, with a request of Bob's that she has approved."""
    with Forky.open(database) as whole:
        team = Team(team_file(database))
        join_team(whole, team)
        ada, bob = team.members.add("Ada Lane", Role.OWNER), team.members.add("Bob Ross", Role.EDITOR)
        hers, his = member_view(whole, team, ada.id), member_view(whole, team, bob.id)
        chat = talk(hers.create("Boats"), "Why do boats float?", "Because.")
        team.sharing.share_with_everyone(chat.id, shared=True, by=ada.id)
        theirs = his.conversation(chat.id)
        request = theirs.requests.open(talk(theirs.fork("bob/idea"), "And stones?", "They sink."))
        theirs.requests.comment(request.number, "Soon, please.")
        chat.requests.approve(request.number, text="Well said.")
        team.close()
    return ada, bob


def test_requests_name_people_and_say_what_their_reviews_amount_to(
    forky: Run, people: tuple[Member, Member]
) -> None:
    for command in (("request", "list"), ("request", "show", "1")):
        said = forky(*command).out
        assert "Bob Ross" in said and "Ada Lane approved." in said and "person:" not in said
    shown = forky("request show 1").out
    assert "Ada Lane approved" in shown and "Well said." in shown and "Bob Ross, " in shown
    entry = forky("request list --json").json
    ada, bob = people
    assert (entry["by"], entry["by_name"]) == (bob.id, "Bob Ross")
    [review] = entry["reviews"]
    assert (review["by"], review["name"], review["state"], review["outdated"]) == (
        ada.id,
        "Ada Lane",
        "approved",
        "",
    )


def test_the_log_names_who_said_what(forky: Run, people: tuple[Member, Member]) -> None:
    assert "Ada Lane\nWhy do boats float?" in forky("log --branch bob/idea").out
    assert "Bob Ross: And stones?" in forky("log --graph").out
    lines = forky("log --json --branch bob/idea").rows
    assert [line.get("author") for line in lines] == ["Ada Lane", "Ada Lane", "Bob Ross", "Bob Ross"]


def test_a_request_is_accepted_by_a_command(forky: Run, people: tuple[Member, Member]) -> None:
    assert forky("request accept 1 --yes").code == 0
    assert "accepted" in forky("request list").out


def exports(database: Path) -> list[tuple[str, str, dict[str, str]]]:
    """The event, the person and the rest of each entry about an export."""
    team = Team(team_file(database))
    found = [one for one in team.audit.entries() if "exported" in one.event]
    team.close()
    return [(one.event, one.person, json.loads(one.about)) for one in found]


def test_what_a_command_exports_is_in_the_audit_log(
    forky: Run, database: Path, tmp_path: Path, people: tuple[Member, Member]
) -> None:
    file = tmp_path / "boats.md"
    assert forky("export Boats -o", str(file)).code == 0 and "Because." in file.read_text()
    assert forky("export Boats --as html --branch main").code == 0
    assert forky("publish comparison main bob/idea -o", str(tmp_path / "two.html")).code == 0
    assert forky("tables", str(tmp_path / "all.duckdb")).code == 0
    assert forky("tables", str(tmp_path / "one.zip"), "--only", "Boats").code == 0
    assert forky("export 'No such one'").code
    with Forky.open(database) as whole:
        [conversation] = [one.id for one in whole.conversations()]
    about = {"conversation": conversation}
    assert exports(database) == [
        ("conversation exported", "", {**about, "form": "markdown"}),
        ("conversation exported", "", {**about, "form": "html", "thing": "branch"}),
        ("conversation exported", "", {**about, "form": "html", "thing": "comparison"}),
        ("tables exported", "", {"form": "duckdb"}),
        ("conversation exported", "", {**about, "form": "parquet", "thing": "tables"}),
    ]
    assert "The operator exported" in forky("admin audit").out
