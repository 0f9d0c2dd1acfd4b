"""Passkeys in a real browser, with the authenticator that Chromium plays for tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from forky_core.gateway.access.ways.passkey import PasskeyWay
from forky_core.gateway.access.ways.password import PasswordWay
from forky_core.team.team import Team, team_file
from tests.browser.conftest import CHECKOUT, Watched, expect, served, settled
from tests.browser.test_team_sign_in import first_owners_address
from tests.gateway.access.team_door import TeamDoor, team_door

pytestmark = pytest.mark.browser

PHONE = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


class Authenticator:
    """A device with passkeys, in the browser of a page."""

    def __init__(self, page: Any) -> None:
        self._devtools = page.context.new_cdp_session(page)
        self._devtools.send("WebAuthn.enable")
        made = self._devtools.send("WebAuthn.addVirtualAuthenticator", {"options": PHONE})
        self._id = {"authenticatorId": made["authenticatorId"]}

    def passkeys(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._devtools.send("WebAuthn.getCredentials", self._id)["credentials"]
        return found

    def replace(self, passkey: dict[str, Any]) -> None:
        self._devtools.send("WebAuthn.clearCredentials", self._id)
        self._devtools.send("WebAuthn.addCredential", self._id | {"credential": passkey})

    def verifies(self, verifies: bool) -> None:
        self._devtools.send("WebAuthn.setUserVerified", self._id | {"isUserVerified": verifies})


def join(page: Any, address: str) -> None:
    """Become a member with a password."""
    page.goto(address)
    page.get_by_label("Your name").fill("Ada Lovelace")
    page.get_by_label("Handle").fill("ada")
    page.get_by_label("Password").fill("correct horse")
    page.get_by_role("button", name="Come in").click()


def sign_out(page: Any, address: str) -> None:
    page.goto(f"{address}/sign-out")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def at_name(address: str) -> str:
    return address.replace("127.0.0.1", "localhost")


def test_a_passkey_is_added_and_leads_to_the_page_that_was_asked_for(tmp_path: Path, watch: Any) -> None:
    with served(CHECKOUT / "app.py", tmp_path, FORKY_TEAM="on") as listening:
        address, watched = at_name(listening), watch()
        page = watched.page
        Authenticator(page)
        join(page, at_name(first_owners_address(tmp_path, listening)))
        page.wait_for_url(f"{address}/")
        settled(page)
        page.goto(f"{address}/sign-in/passkey/add")
        watched.shot(tmp_path / "add.png")
        page.get_by_role("button", name="Add a passkey").click()
        expect(page.get_by_role("heading", name="Passkey added")).to_be_visible()
        sign_out(page, address)
        page.goto(f"{address}/library?q=pelican")
        watched.shot(tmp_path / "sign-in.png")
        page.get_by_role("button", name="Sign in with a passkey").click()
        page.wait_for_url("**/library?q=pelican*")
        settled(page)
        assert watched.problems == []
    team = Team(team_file(tmp_path / "forky.duckdb"))
    said = [
        json.loads(entry.about).get("way") for entry in team.audit.entries() if entry.event == "signed in"
    ]
    assert said == ["password", "passkey"]
    team.close()


@pytest.fixture
def door() -> Iterator[TeamDoor]:
    with team_door([PasskeyWay(), PasswordWay()]) as one:
        one.address = at_name(one.address)
        yield one


@pytest.fixture
def ada(door: TeamDoor, watch: Any) -> Watched:
    """A browser in which somebody is signed in."""
    watched: Watched = watch()
    join(watched.page, f"{door.address}/join/{door.invitation()}")
    watched.page.wait_for_url(f"{door.address}/")
    return watched


def add(page: Any, door: TeamDoor) -> None:
    page.goto(f"{door.address}/sign-in/passkey/add")
    page.get_by_role("button", name="Add a passkey").click()


def enter(page: Any, door: TeamDoor) -> None:
    sign_out(page, door.address)
    page.get_by_role("button", name="Sign in with a passkey").click()


def test_a_copy_of_a_passkey_is_refused_by_its_count(door: TeamDoor, ada: Watched) -> None:
    page, device = ada.page, Authenticator(ada.page)
    add(page, door)
    expect(page.get_by_role("heading", name="Passkey added")).to_be_visible()
    (copy,) = device.passkeys()
    for _ in range(2):
        enter(page, door)
        page.wait_for_url(f"{door.address}/")
    (used,) = device.passkeys()
    assert used["signCount"] > copy["signCount"]
    device.replace(copy | {"rpId": "localhost"})
    enter(page, door)
    expect(page.get_by_role("alert")).to_contain_text("did not prove who you are")
    assert "sign count" in door.refusals()[-1]["reason"]


def test_an_answer_serves_once_and_only_for_whom_it_was_made(door: TeamDoor, ada: Watched) -> None:
    page = ada.page
    Authenticator(page)
    with page.expect_request(f"{door.address}/sign-in/passkey/add") as adding:
        add(page, door)
        expect(page.get_by_role("heading", name="Passkey added")).to_be_visible()
    with page.expect_request(lambda request: request.url == f"{door.address}/sign-in/passkey") as entering:
        enter(page, door)
        page.wait_for_url(f"{door.address}/")
    form = {"content-type": "application/x-www-form-urlencoded"}
    with door.browser() as thief:
        replayed = thief.post("/sign-in/passkey", content=entering.value.post_data, headers=form)
        assert replayed.status_code == 403 and "was done already" in replayed.text
        # Neither without a session, nor as a proof for signing in.
        assert thief.post("/sign-in/passkey/add/options").status_code == 401
        again = thief.post("/sign-in/passkey/add", content=adding.value.post_data, headers=form)
        assert again.status_code == 401
        used = thief.post("/sign-in/passkey", content=adding.value.post_data, headers=form)
        assert used.status_code == 403 and thief.get("/").status_code == 303
        for rubbish in ("", "x", "[]", "{}", '{"response": {"clientDataJSON": "e30"}}', "[" * 9000):
            assert thief.post("/sign-in/passkey", data={"credential": rubbish}).status_code in {403, 413}
    assert door.refusals()


def test_a_passkey_that_was_not_asked_for_a_finger_or_was_removed_lets_nobody_in(
    door: TeamDoor, ada: Watched
) -> None:
    page, device = ada.page, Authenticator(ada.page)
    add(page, door)
    expect(page.get_by_role("heading", name="Passkey added")).to_be_visible()
    add(page, door)
    expect(page.get_by_role("status")).to_have_text("This device has a passkey for you already.")
    device.verifies(False)
    enter(page, door)
    expect(page.get_by_role("status")).to_have_text("No passkey was used.")
    device.verifies(True)
    (member,) = door.team.members.all()
    for identity in door.team.members.identities(member.id):
        if identity.issuer == "passkey":
            door.team.members.drop_identity(member.id, "passkey", identity.subject)
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("This passkey is not known here.")


def test_at_an_address_in_numbers_no_passkey_is_offered(door: TeamDoor, ada: Watched) -> None:
    numbers = door.address.replace("localhost", "127.0.0.1")
    with httpx.Client(base_url=numbers, trust_env=False) as browser:
        assert "passkey" not in browser.get("/sign-in").text
        refused = browser.post("/sign-in/passkey/options")
        assert refused.status_code == 400 and "Passkeys need a name" in refused.text
    assert "passkey" in httpx.get(f"{door.address}/sign-in", trust_env=False).text
