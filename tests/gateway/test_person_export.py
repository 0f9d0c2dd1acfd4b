"""All that is somebody's: everything of theirs is in the zip, nothing of others, and nothing that opens anything."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forky_core.formats.files.json_values import lines
from forky_core.formats.forky_file.reading import read_chat
from forky_core.gateway.access.ways.password import ISSUER
from forky_core.gateway.person_export import person_archive, save_person
from forky_core.gateway.tokens import Tokens
from forky_core.model.errors import NotFound
from forky_core.people.members import Identity, Member
from forky_core.people.roles import Role
from tests.people.people import Office, office


@pytest.fixture
def here() -> Iterator[Office]:
    with office() as opened:
        yield opened


def read(here: Office, member: Member) -> zipfile.ZipFile:
    pieces = person_archive(here.whole, here.team, member, by=member.id)
    return zipfile.ZipFile(io.BytesIO(b"".join(pieces)))


def rows(archive: zipfile.ZipFile, name: str) -> list[Any]:
    return [json.loads(line) for line in archive.read(name).splitlines()]


@pytest.fixture
def bob(here: Office) -> Member:
    """Bob has a conversation of his own, and spoke in one of Ada's, who also has a private one."""
    ada, bob = here.join("Ada", Role.OWNER), here.join("Bob")
    with here.team.database.writing():
        here.team.members.keep_identity(bob.id, Identity(ISSUER, "bob", "$argon2id$verysecrethash"))
    here.team.sessions.open(bob.id, device="Firefox on Linux")
    own = here.seen_by(bob).create("Bob's boats")
    picture = here.seen_by(bob).attach(b"a picture of a boat", name="boat.txt")
    own.say("Cork floats.", attachments=[picture])
    shared = here.seen_by(ada).create("Shared boats")
    shared.say("Ada asks about teak.")
    here.team.sharing.share(shared.id, bob.id, Role.EDITOR, by=ada.id)
    here.seen_by(bob).conversation(shared.id).say("Bob answers: oak.")
    here.seen_by(ada).create("Ada's secret").say("Nobody knows of balsa.")
    Tokens(here.whole.store).make("laptop", person=bob.id)
    return bob


def test_everything_of_theirs_is_in_it(here: Office, bob: Member) -> None:
    archive = read(here, bob)
    assert archive.testzip() is None
    assert "Everything of Bob (bob)" in archive.read("README.txt").decode()
    profile = json.loads(archive.read("profile.json"))
    assert (profile["name"], profile["ways_to_sign_in"]) == ("Bob", [{"issuer": ISSUER, "subject": "bob"}])
    assert json.loads(archive.read("browsers.json"))[0]["browser"] == "Firefox on Linux"
    assert json.loads(archive.read("tokens.json"))[0]["name"] == "laptop"
    said = rows(archive, "said-elsewhere.jsonl")
    assert [one["text"] for one in said if "text" in one] == ["Bob answers: oak."]
    assert {one["did"]["summary"].partition(":")[2].strip() for one in said if "did" in one} == {
        "Bob answers: oak."
    }
    assert "signed in" in {entry["event"] for entry in rows(archive, "audit.jsonl")}
    (own,) = [name for name in archive.namelist() if name.startswith("conversations/")]
    chat = read_chat(lines(io.BytesIO(archive.read(own))))
    assert chat.title == "Bob's boats" and [blob.content for blob in chat.blobs.values()] == [
        b"a picture of a boat"
    ]


def test_nothing_of_others_and_nothing_that_opens_anything_is_in_it(here: Office, bob: Member) -> None:
    archive = read(here, bob)
    everything = b"\n".join(archive.read(name) for name in archive.namelist()).decode()
    for hidden in ("balsa", "Ada's secret", "teak", "argon2", "verysecrethash"):
        assert hidden not in everything, hidden
    for token in Tokens(here.whole.store).all():
        assert token.sha256 not in everything
    for row in here.team.database.rows("SELECT digest FROM sessions"):
        assert row["digest"].hex() not in everything


def test_rows_of_tables_that_are_added_later_are_in_it(here: Office, bob: Member) -> None:
    with here.team.database.writing() as connection:
        connection.execute("CREATE TABLE later (person TEXT, words TEXT, sealed BLOB, secret_key TEXT)")
        connection.execute("INSERT INTO later VALUES (?, 'half a thought', x'00', 'opens')", (bob.id,))
    assert json.loads(read(here, bob).read("kept-about-you.json"))["later"] == [
        {"person": bob.id, "words": "half a thought"}
    ]


def test_it_comes_in_pieces_and_is_in_the_audit_log(here: Office, bob: Member, tmp_path: Path) -> None:
    here.seen_by(bob).create("Long").say("".join(chr(97 + (at * at) % 26) for at in range(400_000)))
    pieces = list(person_archive(here.whole, here.team, bob, by=""))
    assert len([piece for piece in pieces if piece]) > 5
    (first, *_) = [entry for entry in here.team.audit.entries() if entry.event == "person exported"]
    assert (first.person, json.loads(first.about)) == ("", {"member": bob.id})
    place = tmp_path / "bob.zip"
    assert save_person(here.whole, here.team, bob, place) == place.stat().st_size
    with pytest.raises(NotFound):
        save_person(here.whole, here.team, bob, place)


def test_whoever_was_removed_still_gets_what_is_theirs(here: Office, bob: Member) -> None:
    here.team.members.remove(bob.id, by="")
    archive = read(here, here.team.members.member(bob.id))
    assert any(name.startswith("conversations/") for name in archive.namelist())
    assert rows(archive, "said-elsewhere.jsonl") == []


def test_a_new_name_holds_everywhere_at_once(here: Office, bob: Member) -> None:
    here.team.members.rename(bob.id, "Robert")
    archive = read(here, here.team.members.member(bob.id))
    assert "Everything of Robert (bob)" in archive.read("README.txt").decode()
    assert {entry["name"] for entry in rows(archive, "audit.jsonl") if entry["person"] == bob.id} == {
        "Robert"
    }
