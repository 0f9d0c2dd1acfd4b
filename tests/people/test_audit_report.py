"""The audit log as people read it."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from forky_core.model import ConversationId
from forky_core.people import audit_report
from forky_core.people.admission import Proof, admit
from forky_core.people.audit_report import as_csv, as_json_lines, sentence
from forky_core.people.members import Identity
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.people.team_sessions import device_name
from tests.programs import CHECKOUT

CHAT = ConversationId("c1")


def told(team: Team) -> list[str]:
    """Every entry as a sentence, oldest first."""
    names, titles = team.members.name_of, {CHAT: "“Boats”"}
    return [sentence(entry, names, lambda id: titles[ConversationId(id)]) for entry in team.audit.entries()]


def test_the_life_of_a_team_reads_well(team: Team) -> None:
    _invitation, secret = team.invitations.make(Role.OWNER)
    accepted = team.invitations.accept(secret)
    ada = team.members.add("Ada", Role.OWNER)
    team.invitations.note_accepted(accepted, ada.id)
    bob = team.members.add("Bob", Role.EDITOR, by=ada.id)
    team.members.keep_identity(bob.id, Identity("password", "bob", "hash"))
    team.sessions.open(bob.id, way="password")
    team.sharing.begin(CHAT, ada.id)
    team.sharing.share(CHAT, bob.id, Role.COMMENTER, by=ada.id)
    team.sharing.share(CHAT, bob.id, Role.NONE, by=ada.id)
    team.sharing.share_with_everyone(CHAT, shared=True, by=ada.id)
    team.sharing.hand_over(CHAT, bob.id, by=ada.id)
    team.members.rename(ada.id, "Countess Lovelace")
    team.members.set_role(bob.id, Role.VIEWER, by=ada.id)
    team.sessions.end_all(bob.id, by=bob.id)
    team.members.remove(bob.id, by=ada.id)
    team.audit.note("sign-in refused", way="password", member=ada.id)
    team.audit.note("conversation exported", bob.id, conversation=CHAT, form="markdown")
    team.audit.note("conversation exported", bob.id, conversation=CHAT, form="yaml", thing="experiment")
    assert told(team) == [
        "The operator made an invitation for an owner",
        "Countess Lovelace became an owner",
        "Countess Lovelace accepted an invitation of the operator",
        "Countess Lovelace made Bob an editor",
        "Bob added a way to sign in (password)",
        "Bob signed in by password",
        "Countess Lovelace gave Bob the role of commenter in “Boats”",
        "Countess Lovelace took “Boats” away from Bob",
        "Countess Lovelace showed “Boats” to everybody",
        "Countess Lovelace gave Countess Lovelace the role of editor in “Boats”",
        "Countess Lovelace handed “Boats” over to Bob",
        "Countess Lovelace changed their own name",
        "Countess Lovelace made Bob a viewer",
        "Bob signed themselves out everywhere else",
        "Countess Lovelace signed Bob out everywhere",
        "Countess Lovelace removed Bob",
        "A sign-in as Countess Lovelace by password was refused",
        "Bob exported “Boats” (markdown)",
        "Bob exported “Boats” (experiment as yaml)",
    ]


def test_every_event_of_the_library_has_a_sentence() -> None:
    """A name in braces that a sentence does not know would end the page."""
    for event in audit_report._SENTENCES:
        team = Team(None)
        team.audit.note(event, "somebody")
        assert "{" not in told_of(team) and told_of(team) != f"somebody: {event}"
        team.close()
    written = "".join(file.read_text("utf-8") for file in _sources())
    events = set(re.findall(r'audit\.note\(\s*"([^"]+)"', written))
    assert len(events) > 10 and events <= audit_report._SENTENCES.keys()


def told_of(team: Team) -> str:
    (entry,) = team.audit.entries()
    return sentence(entry, str, lambda _id: "a conversation")


def _sources() -> list[Path]:
    return [*(CHECKOUT / "forky_core").rglob("*.py"), *(CHECKOUT / "pages").rglob("*.py")]


def test_an_event_of_a_later_version_is_said_in_its_own_words(team: Team) -> None:
    ada = team.members.add("Ada", Role.OWNER)
    team.audit.note("link painted", ada.id)
    assert told(team)[-1] == "Ada: link painted"


def test_whoever_was_forgotten_has_no_name_and_no_id_in_the_log(team: Team) -> None:
    ada, bob = team.members.add("Ada", Role.OWNER), team.members.add("Bob", Role.VIEWER)
    team.members.forget(bob.id, by=ada.id)
    assert told(team)[-1] == "Ada had Somebody who left forgotten"
    assert "Bob" not in str(told(team)) and "person:" not in str(told(team))


def test_the_files_hold_every_entry_and_the_chain(team: Team) -> None:
    ada = team.members.add("=1+1", Role.OWNER)
    team.sessions.open(ada.id, way="password")
    entries = team.audit.entries()
    lines = [json.loads(line) for line in b"".join(as_json_lines(entries, team.members.name_of)).splitlines()]
    assert [line["previous"] for line in lines] == ["", *(line["id"] for line in lines[:-1])]
    assert lines[-1]["about"]["way"] == "password" and lines[-1]["name"] == "=1+1"
    table = b"".join(as_csv(entries, team.members.name_of)).decode("utf-8-sig")
    rows = list(csv.DictReader(table.splitlines()))
    assert [row["event"] for row in rows] == [entry.event for entry in entries]
    assert rows[0]["name"] == "'=1+1", "a spreadsheet runs no name as a formula"


def test_names_stand_in_the_place_of_ids_in_any_text(team: Team) -> None:
    ada = team.members.add("Ada", Role.OWNER)
    unknown = "person:0123456789abcdef"
    assert (
        team.members.names_in(f"{ada.id} voted, {unknown} did not") == "Ada voted, Somebody who left did not"
    )
    assert team.members.names_in("person:ada is no id") == "person:ada is no id"


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140", "Edge on Windows"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) AppleWebKit/605 Version/18 Safari/605", "Safari on a Mac"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Safari/604.1", "Safari on an iPhone"),
        ("Mozilla/5.0 (Linux; Android 15) Chrome/140.0 Mobile Safari/537.36", "Chrome on Android"),
        ("curl/8.5", "curl"),
        ("", "A browser that says nothing of itself"),
    ],
)  # fmt: skip
def test_a_browser_is_named_as_people_know_it(agent: str, name: str) -> None:
    assert device_name(agent) == name


def test_two_of_one_name_differ_by_their_handles_also_where_one_accepts_an_invitation_of_the_other(
    team: Team,
) -> None:
    ada = team.members.add("Ada", Role.OWNER)
    _invitation, secret = team.invitations.make(Role.EDITOR, by=ada.id)
    admit(team, Proof("password", Identity("password", "ada2"), name="Ada"), secret)
    said = [sentence(entry, team.members.full_name_of, lambda id: id) for entry in team.audit.entries()]
    assert "Ada (ada-2) accepted an invitation of Ada (ada)" in said


def test_an_entry_from_before_it_was_noted_who_accepted_an_invitation_names_nobody(team: Team) -> None:
    team.audit.note("invitation accepted", invitation="i1")
    assert told(team) == ["An invitation was accepted"]
