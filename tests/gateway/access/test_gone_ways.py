"""The people of an earlier Forky: nothing is lost, and they are told how to get in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forky_core.gateway.access.ways.password import PasswordWay
from forky_core.gateway.access.ways.reset import ResetWay
from forky_core.model.errors import InTheWay
from forky_core.people.account import GONE, reset_link
from forky_core.people.members import Identity
from tests.gateway.access.team_door import TeamDoor, team_door
from tests.people.earlier_people import (
    ADAS_RESET,
    BENS_CONFIRMATION,
    BENS_SESSION,
    EVES_INVITATION,
    earlier_team,
)


@pytest.fixture
def door(tmp_path: Path) -> Iterator[TeamDoor]:
    with team_door([PasswordWay(), ResetWay()], team=earlier_team(tmp_path)) as one:
        yield one


def by_handle(door: TeamDoor, handle: str) -> str:
    member = door.team.members.by_handle(handle)
    assert member is not None
    return member.id


def enter(door: TeamDoor, handle: str, password: str) -> int:
    with door.browser() as browser:
        return browser.post("/sign-in/password", data={"handle": handle, "password": password}).status_code


def test_everybody_and_all_that_was_stored_of_them_is_there(door: TeamDoor) -> None:
    assert {one.handle for one in door.team.members.all()} == {"ada", "ben", "cleo", "dora"}
    issuers = {
        one.handle: {identity.issuer for identity in door.team.members.identities(one.id)}
        for one in door.team.members.all()
    }
    assert issuers["ada"] == {"password", "passkey", "mail"} and issuers["ben"] == {"passkey"}
    assert door.team.audit.first_broken() is None
    assert enter(door, "ada", "correct horse") == 200
    (kept,) = door.team.database.rows("SELECT webhook FROM delivery_choices WHERE webhook <> ''")
    assert kept["webhook"] == "https://example.org/hook"
    waiting = door.team.database.rows("SELECT channel FROM deliveries ORDER BY number")
    assert [row["channel"] for row in waiting] == ["digest", "webhook", "digest"]


def test_whoever_is_signed_in_by_a_passkey_stays_signed_in(door: TeamDoor) -> None:
    with door.browser() as browser:
        browser.cookies.set(f"forky_session_{browser.base_url.port}", BENS_SESSION)
        assert browser.get("/library").text == "ben /library?"
        page = browser.get("/sign-in/again").text
        assert "in a way that is gone" in page and "<form" not in page


def test_the_sign_in_page_says_how_whoever_had_a_passkey_alone_gets_in(door: TeamDoor) -> None:
    with door.browser() as browser:
        assert browser.get("/sign-in").text.count(GONE) == 1
        address = f"/sign-in/reset/open/{reset_link(door.team, by_handle(door, 'ben'), by='')}"
        assert "for the handle <b>ben</b>" in browser.get(address).text
        form = {"secret": address.rpartition("/")[2], "password": "correct horse"}
        assert browser.post("/sign-in/reset/open", data=form).status_code == 200
        assert browser.get("/library").text == "ben /library?"
    assert enter(door, "ben", "correct horse") == 200


def test_the_sentence_is_gone_when_everybody_has_a_way_in(door: TeamDoor) -> None:
    for member in door.team.members.locked_out():
        door.team.members.keep_identity(member.id, Identity("password", member.handle, "a hash"))
    with door.browser() as browser:
        assert GONE not in browser.get("/sign-in").text


def test_who_is_locked_out_is_known(door: TeamDoor) -> None:
    assert {one.handle for one in door.team.members.locked_out()} == {"ben", "cleo"}


@pytest.mark.parametrize(
    "path",
    [
        "/sign-in/passkey",
        "/sign-in/passkey/add",
        "/sign-in/mail",
        "/sign-in/mail/open/a-link-that-was-mailed",
        f"/sign-in/address/{BENS_CONFIRMATION}",
    ],
)
def test_an_address_that_is_gone_says_so_on_the_sign_in_page(door: TeamDoor, path: str) -> None:
    with door.browser() as browser:
        answer = browser.get(path)
        assert answer.status_code == 410 and answer.text.count(GONE) == 1 and 'name="handle"' in answer.text


def test_a_link_that_confirmed_an_address_gives_no_password(door: TeamDoor) -> None:
    with door.browser() as browser:
        form = {"secret": BENS_CONFIRMATION, "password": "correct horse"}
        assert browser.post("/sign-in/reset/open", data=form).status_code == 403


def test_a_link_to_a_password_that_was_mailed_still_serves_once(door: TeamDoor) -> None:
    form = {"secret": ADAS_RESET, "password": "battery staple"}
    with door.browser() as browser:
        assert [browser.post("/sign-in/reset/open", data=form).status_code for _ in range(2)] == [200, 403]
    assert enter(door, "ada", "battery staple") == 200


def test_an_invitation_to_an_address_is_open_to_whoever_has_it(door: TeamDoor) -> None:
    form = {"handle": "eve", "password": "correct horse", "name": "Eve", "invitation": EVES_INVITATION}
    with door.browser() as browser:
        assert browser.post("/sign-in/password", data=form).status_code == 200
        assert browser.get("/library").text == "eve /library?"
    eve = door.team.members.by_handle("eve")
    assert eve is not None and eve.email == "eve@example.org"
    assert [one.issuer for one in door.team.members.identities(eve.id)] == ["password"]


def test_a_passkey_does_not_count_as_the_way_in_that_is_left(door: TeamDoor) -> None:
    ada = by_handle(door, "ada")
    with pytest.raises(InTheWay):
        door.team.members.drop_identity(ada, "password", "ada")
    (passkey,) = [one for one in door.team.members.identities(ada) if one.issuer == "passkey"]
    door.team.members.drop_identity(ada, "passkey", passkey.subject)
