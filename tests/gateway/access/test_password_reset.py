"""Another password by a link, and proof of who somebody is that is asked for anew."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import httpx
import pytest

from forky_core.gateway.access.credentials import hashed
from forky_core.gateway.access.ways.password import PasswordWay
from forky_core.gateway.access.ways.reset import ResetWay
from forky_core.model.errors import NotAllowed, NotFound
from forky_core.people.account import FORGOTTEN, require_proof, reset_link
from forky_core.people.attempts import Attempts
from forky_core.people.members import Identity, Member
from forky_core.people.roles import Role
from tests.gateway.access.team_door import TeamDoor, team_door

OLD, NEW = "correct horse", "battery staple"
_hashed = cache(hashed)
"""A hash takes half a second, and not while tests are collected."""


class Unlimited(Attempts):
    """Lets a test try as often as it likes."""

    def wait(self, client: str) -> float:
        return 0.0


@pytest.fixture
def door() -> Iterator[TeamDoor]:
    with team_door([PasswordWay(Unlimited()), ResetWay()]) as one:
        yield one


def person(door: TeamDoor, name: str, role: Role = Role.EDITOR) -> Member:
    made = door.team.members.add(name, role)
    door.team.members.keep_identity(made.id, Identity("password", made.handle, _hashed(OLD)))
    return made


@pytest.fixture
def ada(door: TeamDoor) -> Member:
    return person(door, "Ada", Role.OWNER)


def enter(browser: httpx.Client, handle: str, password: str) -> int:
    answer = browser.post("/sign-in/password", data={"handle": handle, "password": password})
    return answer.status_code


def choose(browser: httpx.Client, secret: str, password: str = NEW) -> httpx.Response:
    return browser.post("/sign-in/reset/open", data={"secret": secret, "password": password})


def test_a_link_of_an_owner_changes_the_password_once_and_signs_out_every_browser(
    door: TeamDoor, ada: Member
) -> None:
    bob = person(door, "Bob")
    with door.browser() as signed_in, door.browser() as browser:
        assert enter(signed_in, "bob", OLD) == 200
        secret = reset_link(door.team, bob.id, by=ada.id)
        for _ in range(3):  # Opening it uses nothing up.
            shown = browser.get(f"/sign-in/reset/open/{secret}")
            assert shown.status_code == 200 and "<b>bob</b>" in shown.text
        assert signed_in.get("/").text.startswith("bob ")
        short = choose(browser, secret, "short")
        assert short.status_code == 400 and "8 to" in short.text
        assert choose(browser, secret).status_code == 200
        assert browser.get("/").text.startswith("bob ")
        assert signed_in.get("/").status_code == 303, "every other browser is signed out"
        assert choose(browser, secret, "another one").status_code == 403
    with door.browser() as other:
        assert enter(other, "bob", OLD) == 403 and enter(other, "bob", NEW) == 200
    events = [(one.event, one.person) for one in door.team.audit.entries()]
    assert ("password reset offered", ada.id) in events and ("password reset", bob.id) in events


def test_a_newer_link_takes_the_older_back_and_a_removed_member_has_none(door: TeamDoor, ada: Member) -> None:
    bob = person(door, "Bob")
    first, second = (reset_link(door.team, bob.id, by=ada.id) for _ in range(2))
    with door.browser() as browser:
        assert choose(browser, first).status_code == 403
        door.team.members.remove(bob.id, by=ada.id)
        assert browser.get(f"/sign-in/reset/open/{second}").status_code == 403
        assert choose(browser, second).status_code == 403
    with pytest.raises(NotFound):
        reset_link(door.team, bob.id, by=ada.id)


def test_of_many_who_use_a_link_at_once_one_does(door: TeamDoor, ada: Member) -> None:
    bob = person(door, "Bob")
    secret = reset_link(door.team, bob.id, by=ada.id)

    def use(number: int) -> int:
        with door.browser() as browser:
            return choose(browser, secret, f"password {number}").status_code

    with ThreadPoolExecutor(4) as pool:
        statuses = sorted(pool.map(use, range(4)))
    assert statuses == [200, 403, 403, 403] and len(door.team.sessions.of(bob.id)) == 1


def test_the_sign_in_page_says_whom_to_ask_for_one(door: TeamDoor) -> None:
    with door.browser() as browser:
        assert FORGOTTEN in browser.get("/sign-in").text
        assert browser.get("/sign-in/reset").status_code == 404


@pytest.mark.parametrize("secret", ["", "x", "../x", "\x00", "a" * 5000, "<script>"])
def test_a_made_up_link_is_refused(door: TeamDoor, ada: Member, secret: str) -> None:
    with door.browser() as browser:
        assert choose(browser, secret).status_code == 403
        refused = choose(browser, secret)
        assert "is not open" in refused.text and "<script>" not in refused.text.replace("<script src", "")


# Proof.


def test_an_old_session_proves_nothing_until_its_person_is_asked_again(door: TeamDoor, ada: Member) -> None:
    with door.browser() as browser:
        token = door.team.sessions.open(ada.id)
        browser.cookies.set(f"forky_session_{browser.base_url.port}", token)
        (session,) = door.team.sessions.of(ada.id)
        with pytest.raises(NotAllowed):
            require_proof(door.team, session.id)
        page = browser.get("/sign-in/again", params={"next": "/people?tab=me"}).text
        assert "Is it you?" in page and 'value="ada"' in page and 'value="/people?tab=me"' in page
        form = {"handle": "ada", "again": "1", "next": "/people?tab=me"}
        wrong = browser.post("/sign-in/password", data=form | {"password": "no"})
        assert wrong.status_code == 403 and "Is it you?" in wrong.text
        entered = browser.post("/sign-in/password", data=form | {"password": OLD})
        assert 'content="0;url=/people?tab=me"' in entered.text
        (after,) = door.team.sessions.of(ada.id)
        assert after.id == session.id, "what is open in the session stays open"
        require_proof(door.team, session.id)
        assert browser.get("/").text.startswith("ada ")
    with door.browser() as thief:
        thief.cookies.set(f"forky_session_{thief.base_url.port}", token)
        assert thief.get("/").status_code == 303, "a copy of the former cookie opens nothing any more"
        assert thief.get("/sign-in/again").headers["location"].startswith("/sign-in?")


def test_a_proof_is_of_one_session_and_of_a_few_minutes(ada: Member, door: TeamDoor) -> None:
    clock = [1_700_000_000_000_000]
    door.team.sessions._clock = lambda: clock[0]
    proved, other = (
        door.team.sessions.find(door.team.sessions.open(ada.id, proved=proves)) for proves in (True, False)
    )
    assert proved is not None and other is not None
    minute = 60_000_000
    assert door.team.sessions.proved(proved.id, within=10 * minute)
    assert not door.team.sessions.proved(other.id, within=10 * minute)
    for hours in (1, -1):  # The clock of this server is set by an hour.
        clock[0] = 1_700_000_000_000_000 + hours * 60 * minute
        assert not door.team.sessions.proved(proved.id, within=10 * minute)
