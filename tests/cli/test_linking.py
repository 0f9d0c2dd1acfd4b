"""`forky link`: made only once somebody has looked at what is private, listed, revoked."""

from __future__ import annotations

from pathlib import Path

import pytest

from forky_core.forky import Forky
from forky_core.people import team_file
from forky_core.people.links.links import Links
from forky_core.people.team import Team
from tests.builders import ScriptedModels, debugged
from tests.cli.conftest import Run
from tests.gateway.served import listening
from tests.gateway.test_link_files import link_files


@pytest.fixture
def talked(database: Path, forky: Run) -> Run:
    with Forky.open(database, models=ScriptedModels()) as opened:
        chat = debugged(opened)
        chat.checkout("debug").say("Write to jane.doe@example.com.")
    return forky


def page(database: Path, address: str) -> bytes:
    with Forky.open(database, models=ScriptedModels()) as opened:
        links = Links(opened.store)
        return links.page(links.find(address.strip().rpartition("/")[2]))


def test_a_link_is_made_listed_and_revoked(talked: Run, database: Path) -> None:
    done = talked("link make branch --branch main --days 7 --server https://f.example/")
    assert done.out.startswith("https://f.example/s/") and "It is not shown again." in done.err
    assert b"<article" in page(database, done.out)
    (listed,) = talked("link list --json").rows
    assert listed["thing"] == "branch" and listed["opened"] == 0 and "sha256" not in listed
    assert "opened 0 times" in talked("link list").out
    assert "is revoked" in talked("link revoke", listed["id"]).out
    assert "revoked" in talked("link list").out
    assert talked("link revoke", listed["id"]).code == 2
    assert talked("link revoke nobody").code == 2


def test_no_link_is_made_before_somebody_decides_about_what_looks_private(
    talked: Run, database: Path
) -> None:
    refused = talked("link make branch debug")
    assert refused.code == 2 and "--redact" in refused.err and "jane.doe@example.com" in refused.err
    assert talked("link list --json").out == ""
    redacted = talked("link make branch debug --redact")
    assert redacted.code == 0 and b"jane" not in page(database, redacted.out)
    whole = talked("link make branch debug --as-it-is")
    assert b"jane.doe@example.com" in page(database, whole.out)


def test_a_message_with_its_path_and_a_live_link_are_made(talked: Run, database: Path) -> None:
    made = talked("link make message --branch main --path --live --json").json
    assert (
        made["live"] and made["which"][1] == "path" and made["address"].startswith("http://127.0.0.1:8501/s/")
    )
    assert talked("link make grid").code == 2 and talked("link make branch nowhere").code == 2
    assert talked("link make diary").code == 2


def test_on_a_teams_database_it_is_in_the_audit_log(
    talked: Run, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Team(team_file(database)).close()
    monkeypatch.setenv("FORKY_TEAM", "on")
    made = talked("link make branch main --json").json
    talked("link revoke", made["id"])
    team = Team(team_file(database))
    events = [entry.event for entry in team.audit.entries()]
    assert events[-2:] == ["link made", "link revoked"] and team.audit.first_broken() is None
    assert "Enums" not in "".join(entry.about for entry in team.audit.entries())
    team.close()


def test_a_fork_goes_to_another_database_by_a_link_and_comes_home(
    talked: Run, database: Path, tmp_path: Path
) -> None:
    made = talked("link make branch --branch main --live --returns --as-it-is --json").json
    assert made["returns"]
    elsewhere = f"--database {tmp_path}/elsewhere.duckdb"
    with Forky.open(database, models=ScriptedModels()) as opened:
        served = link_files(opened)
        with listening(served) as url:
            address = f"{url}/s/{made['address'].rpartition('/')[2]}"
            own = talked(f"{elsewhere} import {address} --json").json["conversation"]
            assert own != made["conversation"]
            assert "Nothing is new" in talked(f"{elsewhere} import {address}").out
            assert talked(f"{elsewhere} import --preview {address}").code == 2
            assert talked(f"{elsewhere} say Really?").code == 0
            told = talked(f"{elsewhere} link return {address} --conversation {own}")
            assert told.out == "1 message given back: merge request 1 there.\n", told
            again = talked(f"{elsewhere} link return {address} --conversation {own} --json")
            assert again.json == {"messages": 0, "requests": []}
        (request,) = opened.conversation(made["conversation"]).requests.all
        assert "by the link" in request.note
