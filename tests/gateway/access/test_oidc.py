"""Signing in with OpenID Connect: a real provider, and one that says whatever a hostile one would."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from forky_core.gateway.access.ways import oidc_client
from forky_core.gateway.access.ways.oidc import OidcWay
from forky_core.gateway.access.ways.oidc_providers import IdentityProvider, RoleRules
from forky_core.gateway.access.ways.password import PasswordWay
from forky_core.model.errors import InTheWay
from forky_core.people.members import Identity, Member
from forky_core.people.roles import Role
from tests.app_server import free_port
from tests.gateway.access.odd_provider import OddProvider, new_key, odd_provider
from tests.gateway.access.team_door import (
    TeamDoor,
    asked,
    mock_provider,
    say_yes,
    team_door,
    to_provider,
)

RULES = RoleRules("groups", {Role.OWNER: frozenset({"admins"}), Role.EDITOR: frozenset({"staff"})})
ADA = {"sub": "ada", "name": "Ada Lovelace", "email": "ada@example.org", "email_verified": True}
EVE = {"sub": "eve", "name": "Ada Lovelace", "email": "ada@example.org", "email_verified": False}
ODD_NAME = "\N{RIGHT-TO-LEFT OVERRIDE}"
BOT: dict[str, object] = {"sub": ODD_NAME, "name": f"{ODD_NAME}x" * 5000}


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with mock_provider("--require-nonce", "true", people=[ADA, EVE, BOT]) as address:
        yield address


@pytest.fixture
def door(issuer: str) -> Iterator[TeamDoor]:
    with team_door([OidcWay([provider(issuer)]), PasswordWay()]) as one:
        yield one


@pytest.fixture
def odd() -> Iterator[OddProvider]:
    with odd_provider() as one:
        yield one


def provider(issuer: str, name: str = "work", **settings: Any) -> IdentityProvider:
    return IdentityProvider(name, "Work", issuer, "forky", "secret", **settings)


def enter(door: TeamDoor, browser: httpx.Client, subject: str, **errand: str) -> httpx.Response:
    return browser.get(say_yes(browser, to_provider(browser, **errand), subject))


def answered(browser: httpx.Client, odd: OddProvider, name: str = "work") -> httpx.Response:
    """Sign in at the odd provider."""
    question = asked(to_provider(browser, name=name))
    odd.nonce = question["nonce"]
    params = {"code": "x", "state": question["state"]}
    return browser.get(f"/sign-in/oidc/{name}/back", params=params)


def test_whoever_is_invited_comes_in_and_finds_the_page_that_was_asked_for(door: TeamDoor) -> None:
    with door.browser() as browser:
        page = browser.get(f"/join/{door.invitation(email='ada@example.org')}").text
        link = re.search(r'href="(/sign-in/oidc/work[^"]*)"', page)
        assert link and "Come in with Work" in page
        begun = browser.get(link[1].replace("&amp;", "&"))
        cookie = begun.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Secure" not in cookie
        question = asked(begun.headers["location"])
        assert question["code_challenge_method"] == "S256" and len(question["code_challenge"]) == 43
        assert question["redirect_uri"] == f"{door.address}/sign-in/oidc/work/back"
        assert browser.get(say_yes(browser, begun.headers["location"], "ada")).status_code == 200
        assert browser.get("/library").text == "ada-lovelace /library?"
        (member,) = door.team.members.all()
        assert (member.name, member.email, member.role) == ("Ada Lovelace", "ada@example.org", Role.EDITOR)

        browser.post("/sign-out")
        wanted = browser.get("/library?x=1&y=a%20b")
        page = browser.get(wanted.headers["location"]).text
        link = re.search(r'href="(/sign-in/oidc/work[^"]*)"', page)
        assert link
        place = browser.get(link[1].replace("&amp;", "&")).headers["location"]
        assert 'content="0;url=/library?x=1&amp;y=a%20b"' in browser.get(say_yes(browser, place, "ada")).text
        assert browser.get("/").text.startswith("ada-lovelace")


def test_people_are_named_by_issuer_and_subject_and_never_by_an_address(door: TeamDoor) -> None:
    bound = door.invitation(email="ada@example.org")
    with door.browser() as eve:
        refused = enter(door, eve, "eve", invitation=bound)
        assert refused.status_code == 403 and "is for another address" in refused.text
        assert eve.get("/").status_code == 303
        assert enter(door, eve, "eve", invitation=door.invitation()).status_code == 200
    with door.browser() as ada:
        assert enter(door, ada, "ada", invitation=bound).status_code == 200
    members = door.team.members.all()
    assert [(one.handle, one.email) for one in members] == [
        ("ada-lovelace", ""),
        ("ada-lovelace-2", "ada@example.org"),
    ]


def test_nobody_comes_in_without_an_invitation_or_a_role(door: TeamDoor) -> None:
    with door.browser() as browser:
        refused = enter(door, browser, "stranger")
        assert refused.status_code == 403 and "Nobody here knows you." in refused.text
        assert "set-cookie" not in refused.headers
    assert len(door.refusals()) == 1 and not door.team.members.all()


def test_an_answer_serves_once_and_only_in_the_browser_that_asked(door: TeamDoor) -> None:
    with door.browser() as ada, door.browser() as thief:
        back = say_yes(ada, to_provider(ada, invitation=door.invitation()), "ada")
        to_provider(thief)
        refused = thief.get(back)
        assert refused.status_code == 403 and "was not begun in this browser" in refused.text
        refused = ada.get(back)
        assert refused.status_code == 403, "Somebody else has used its state up."
        back = say_yes(ada, to_provider(ada, invitation=door.invitation()), "ada")
        assert ada.get(back).status_code == 200
        again = ada.get(back)
        assert again.status_code == 403 and "finished already" in again.text
        assert ada.get("/").status_code == 200, "Whoever is in stays in."
    assert [one["reason"] for one in door.refusals()] == ["state"] * 3


def test_a_code_that_was_used_is_refused_with_a_fresh_state(door: TeamDoor) -> None:
    with door.browser() as browser:
        first = say_yes(browser, to_provider(browser, invitation=door.invitation()), "ada")
        assert browser.get(first).status_code == 200
        fresh = asked(to_provider(browser))["state"]
        params = {"code": asked(first)["code"], "state": fresh}
        replayed = browser.get("/sign-in/oidc/work/back", params=params)
        assert replayed.status_code == 403
        assert "did not accept what your browser brought back" in replayed.text
    assert [one["reason"] for one in door.refusals()] == ["code"]


def test_two_tabs_may_sign_in_at_once_and_each_opens_a_session_of_its_own(door: TeamDoor) -> None:
    with door.browser() as browser:
        places = [to_provider(browser, target=f"/{n}", invitation=door.invitation()) for n in "ab"]
        entered = [browser.get(say_yes(browser, place, "ada")) for place in places]
        assert ["0;url=/a" in entered[0].text, "0;url=/b" in entered[1].text] == [True, True]
        tokens = [re.search(r"forky_session_\d+=([\w-]+)", one.headers["set-cookie"]) for one in entered]
        assert tokens[0] and tokens[1] and tokens[0][1] != tokens[1][1]


def test_who_says_no_at_the_provider_reads_that(door: TeamDoor) -> None:
    with door.browser() as browser:
        state = asked(to_provider(browser))["state"]
        params = {"error": "access_denied", "error_description": "<b>", "state": state}
        refused = browser.get("/sign-in/oidc/work/back", params=params)
        assert "You did not sign in at Work." in refused.text and "<b>" not in refused.text


@pytest.mark.parametrize(("hours", "max_age"), [(-1, 3600), (1, 600)])
def test_a_clock_that_is_an_hour_off_is_named(hours: int, max_age: int) -> None:
    with mock_provider("-e", str(max_age), people=[ADA]) as issuer:
        way = OidcWay([provider(issuer)], clock=lambda: time.time() + hours * 3600)
        with team_door([way]) as door, door.browser() as browser:
            refused = enter(door, browser, "ada", invitation=door.invitation())
            assert refused.status_code == 403
            assert "The clocks of this server and of Work do not agree." in refused.text
            assert [one["reason"] for one in door.refusals()] == ["clock"]


def test_a_provider_that_is_down_disturbs_nobody_else(issuer: str) -> None:
    down = IdentityProvider("down", "Elsewhere", f"http://127.0.0.1:{free_port()}", "forky")
    with team_door([OidcWay([down, provider(issuer)])]) as door, door.browser() as browser:
        refused = browser.get("/sign-in/oidc/down", params={"next": "/library?x=1"})
        assert refused.status_code == 502 and "Elsewhere does not answer now." in refused.text
        assert "next=%2Flibrary%3Fx%3D1" in refused.text, "The other ways still lead there."
        assert enter(door, browser, "ada", invitation=door.invitation()).status_code == 200
        for _ in range(20):
            browser.get("/sign-in/oidc/down")
        assert 1 <= len(door.refusals()) <= 5, "Nobody fills the log by asking again and again."


def test_a_provider_that_never_answers_holds_up_nobody_else(issuer: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, ThreadPoolExecutor() as pool:
        hangs = provider(f"http://127.0.0.1:{silent.getsockname()[1]}", "hangs")
        ways = [OidcWay([hangs, provider(issuer)])]
        with team_door(ways) as door, door.browser() as waits, door.browser() as ada:
            asking = [pool.submit(waits.get, "/sign-in/oidc/hangs") for _ in range(3)]
            held = [silent.accept()[0] for _ in asking]
            assert enter(door, ada, "ada", invitation=door.invitation()).status_code == 200
            for connection in held:
                connection.close()
            assert [one.result().status_code for one in asking] == [502] * 3


def test_a_provider_is_given_up_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oidc_client, "PATIENCE", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hangs = provider(f"http://127.0.0.1:{silent.getsockname()[1]}")
        with team_door([OidcWay([hangs])]) as door, door.browser() as browser:
            assert browser.get("/sign-in/oidc/work").status_code == 502
            assert [one["reason"] for one in door.refusals()] == ["no answer"]


def test_a_provider_that_stops_in_between_is_named(odd: OddProvider) -> None:
    odd.metadata["token_endpoint"] = f"http://127.0.0.1:{free_port()}/"
    with team_door([OidcWay([provider(odd.issuer)])]) as door, door.browser() as browser:
        refused = answered(browser, odd)
        assert refused.status_code == 502 and "Work does not answer now." in refused.text


def test_another_issuer_in_what_is_published_is_refused(odd: OddProvider) -> None:
    odd.metadata["issuer"] = "https://evil.example"
    with team_door([OidcWay([provider(odd.issuer)])]) as door, door.browser() as browser:
        refused = browser.get("/sign-in/oidc/work")
        assert refused.status_code == 403 and "its issuer is not the expected one" in refused.text
        assert [one["reason"] for one in door.refusals()] == ["issuer"]


def test_an_answer_that_names_another_issuer_is_refused(odd: OddProvider) -> None:
    with team_door([OidcWay([provider(odd.issuer)])]) as door, door.browser() as browser:
        state = asked(to_provider(browser))["state"]
        params = {"code": "x", "state": state, "iss": "https://evil.example"}
        refused = browser.get("/sign-in/oidc/work/back", params=params)
        assert refused.status_code == 403 and "its issuer is not the expected one" in refused.text
        assert odd.token_requests == [], "The code was not shown to anybody."


def test_an_answer_of_one_provider_is_no_answer_of_another(odd: OddProvider, issuer: str) -> None:
    way = OidcWay([provider(odd.issuer, "odd"), provider(issuer)])
    with team_door([way]) as door, door.browser() as browser:
        state = asked(to_provider(browser))["state"]
        refused = browser.get("/sign-in/oidc/odd/back", params={"code": "x", "state": state})
        assert refused.status_code == 403 and odd.token_requests == []


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"iss": "https://evil.example"}, "issuer"),
        ({"iss": None}, "issuer"),
        ({"aud": "another"}, "aud"),
        ({"aud": ["another", "third"], "azp": "forky"}, "aud"),
        ({"aud": ["forky", "another"], "azp": "another"}, "azp"),
        ({"nonce": None}, "nonce"),
        ({"nonce": "another"}, "nonce"),
        ({"sub": None}, "sub"),
        ({"sub": ""}, "sub"),
        ({"exp": None}, "exp"),
        ({"exp": 1}, "clock"),
        ({"iat": 9_999_999_999}, "clock"),
        ({"at_hash": "AAAA"}, "at_hash"),
    ],
)
def test_a_claim_of_another_value_is_refused(odd: OddProvider, claims: dict[str, Any], reason: str) -> None:
    with team_door([OidcWay([provider(odd.issuer, role=Role.OWNER)])]) as door, door.browser() as browser:
        odd.claims = claims
        assert answered(browser, odd).status_code == 403
        assert [one["reason"] for one in door.refusals()] == [reason]
        assert not door.team.members.all()


def test_a_token_that_nobody_signed_or_another_did_is_refused(odd: OddProvider) -> None:
    with team_door([OidcWay([provider(odd.issuer, role=Role.OWNER)])]) as door, door.browser() as browser:
        odd.unsigned = True
        assert "its signature is not the expected one" in answered(browser, odd).text
        odd.unsigned, odd.forger = False, new_key("first")
        assert "its signature is not the expected one" in answered(browser, odd).text
        assert not door.team.members.all()
        odd.forger = None
        assert answered(browser, odd).status_code == 200
        odd.key = new_key("second")
        assert answered(browser, odd).status_code == 200, "An unknown name of a key has the keys read again."
        assert 43 <= len(odd.token_requests[-1]["code_verifier"]) <= 128


def test_names_come_from_user_info_where_the_token_has_none(odd: OddProvider) -> None:
    odd.claims = {"name": None}
    odd.user_info = {"sub": "ada", "name": "Ada L.", "email": "Ada@Example.org", "email_verified": True}
    with team_door([OidcWay([provider(odd.issuer, role=Role.VIEWER)])]) as door, door.browser() as browser:
        assert answered(browser, odd).status_code == 200
        (member,) = door.team.members.all()
        assert (member.name, member.email) == ("Ada L.", "ada@example.org")
        odd.user_info["sub"] = "eve"
        assert "its user info is not the expected one" in answered(browser, odd).text


def test_a_name_that_cannot_be_used_keeps_nobody_out(issuer: str) -> None:
    with team_door([OidcWay([provider(issuer, role=Role.VIEWER)])]) as door, door.browser() as browser:
        assert enter(door, browser, ODD_NAME).status_code == 200
        (member,) = door.team.members.all()
        assert len(member.name) <= 60 and member.name.isprintable()


def test_a_provider_s_role_is_for_newcomers_and_its_rules_hold_at_every_sign_in(odd: OddProvider) -> None:
    ways = OidcWay([provider(odd.issuer, role=Role.VIEWER), provider(odd.issuer, "ruled", rules=RULES)])
    with team_door([ways]) as door, door.browser() as browser:

        def comes(name: str, **claims: Any) -> httpx.Response:
            odd.claims = claims
            return answered(browser, odd, name)

        def role(subject: str) -> Role:
            found = door.team.members.by_identity(odd.issuer, subject)
            return found[0].role if found else Role.NONE

        owner = door.team.members.add("Owner", Role.OWNER)
        assert comes("work").status_code == 200 and role("ada") is Role.VIEWER
        found = door.team.members.by_identity(odd.issuer, "ada")
        assert found
        door.team.members.set_role(found[0].id, Role.EDITOR, by=owner.id)
        assert comes("work").status_code == 200 and role("ada") is Role.EDITOR

        assert comes("ruled", sub="bo", groups=["staff", "x"]).status_code == 200
        assert role("bo") is Role.EDITOR
        assert comes("ruled", sub="bo", groups="admins").status_code == 200 and role("bo") is Role.OWNER
        refused = comes("ruled", sub="bo", groups=[])
        assert refused.status_code == 403 and "gives you no role here" in refused.text
        assert role("bo") is Role.NONE
        assert browser.get("/").status_code == 303, "The sessions from before have ended."
        assert comes("ruled", sub="cy", groups=None).status_code == 403
        assert comes("ruled", sub="bo", groups=["staff"]).status_code == 200 and role("bo") is Role.EDITOR


# A provider as one more way in.


def has_session(browser: httpx.Client, door: TeamDoor, member: Member, *, proved: bool) -> None:
    token = door.team.sessions.open(member.id, proved=proved)
    browser.cookies.set(f"forky_session_{browser.base_url.port}", token)


def add(browser: httpx.Client, subject: str) -> httpx.Response:
    """Add what the provider says about a subject to the ways in of whoever is signed in."""
    begun = browser.post("/sign-in/oidc/work/add")
    assert begun.status_code == 303, begun.text
    assert asked(begun.headers["location"])["prompt"] == "login"
    return browser.get(say_yes(browser, begun.headers["location"], subject))


def test_a_provider_is_added_to_ones_ways_in_and_removed_again(door: TeamDoor) -> None:
    member = door.team.members.add("Bob", Role.EDITOR)
    door.team.members.keep_identity(member.id, Identity("password", "bob", "a hash"))
    with door.browser() as browser:
        has_session(browser, door, member, proved=True)
        page = browser.get("/sign-in/oidc/work/add")
        assert page.status_code == 200 and "lets you in here, as <bdi>Bob</bdi>" in page.text
        assert "Way to sign in added" in add(browser, "added-bob").text
    with door.browser() as another:
        assert enter(door, another, "added-bob").status_code == 200
        assert another.get("/").text.startswith("bob ")
    added, password = door.team.members.identities(member.id)[::-1]
    door.team.members.drop_identity(member.id, password.issuer, password.subject)
    with pytest.raises(InTheWay):
        door.team.members.drop_identity(member.id, added.issuer, added.subject)


def test_nobody_adds_a_provider_without_a_proof_of_the_last_minutes(door: TeamDoor) -> None:
    member = door.team.members.add("Carl", Role.EDITOR)
    with door.browser() as browser:
        assert browser.post("/sign-in/oidc/work/add").status_code == 401
        has_session(browser, door, member, proved=False)
        for method in ("GET", "POST"):
            sent = browser.request(method, "/sign-in/oidc/work/add")
            assert sent.headers["location"] == "/sign-in/again?next=%2Fsign-in%2Foidc%2Fwork%2Fadd"
        # The session ends while its person is at the provider.
        has_session(browser, door, member, proved=True)
        begun = browser.post("/sign-in/oidc/work/add").headers["location"]
        back = say_yes(browser, begun, "carl")
        door.team.sessions.end_all(member.id, by=member.id)
        refused = browser.get(back)
        assert refused.status_code == 403 and "Not added" in refused.text
    assert door.team.members.identities(member.id) == []


def test_an_identity_of_somebody_else_cannot_be_added(door: TeamDoor) -> None:
    with door.browser() as browser:
        enter(door, browser, "taken", invitation=door.invitation())
    member = door.team.members.add("Dora", Role.EDITOR)
    with door.browser() as browser:
        has_session(browser, door, member, proved=True)
        refused = add(browser, "taken")
        assert refused.status_code == 403 and "belongs to somebody else" in refused.text


def test_whoever_has_only_a_provider_proves_by_it_when_it_was_told_to_ask_again(door: TeamDoor) -> None:
    with door.browser() as browser:
        enter(door, browser, "erna", invitation=door.invitation())
        (session,) = door.team.sessions.of(door.team.members.all()[-1].id)
        assert not door.team.sessions.proved(session.id, within=600_000_000)
        page = browser.get("/sign-in/again", params={"next": "/people?tab=me"})
        assert "again=1" in page.text
        # Without it the provider lets a browser through that has signed in there before.
        enter(door, browser, "erna")
        mine = door.team.sessions.of(session.member)
        assert not any(door.team.sessions.proved(one.id, within=600_000_000) for one in mine)
        begun = browser.get("/sign-in/oidc/work", params={"next": "/people?tab=me", "again": "1"})
        assert asked(begun.headers["location"])["prompt"] == "login"
        done = browser.get(say_yes(browser, begun.headers["location"], "erna"))
        assert 'content="0;url=/people?tab=me"' in done.text
        mine = door.team.sessions.of(session.member)
        assert any(door.team.sessions.proved(one.id, within=600_000_000) for one in mine)
