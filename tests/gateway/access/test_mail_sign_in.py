"""Signing in by a link that a real mail server was handed: once, in the browser that asked, and told to nobody else."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from forky_core.gateway.access.origins import Origin
from forky_core.gateway.access.ways import per_address
from forky_core.gateway.access.ways.mail import MailWay
from forky_core.gateway.access.ways.password import PasswordWay
from forky_core.team.account import MAIL, confirm_address
from forky_core.team.attempts import Attempts
from forky_core.team.mail import Mailer
from forky_core.team.members import Identity, Member
from forky_core.team.roles import Role
from tests.gateway.access.team_door import TeamDoor, team_door
from tests.hangs import HANG
from tests.team.post_office import PostOffice, links, post_office

ADA = "ada@example.org"


class Unlimited(Attempts):
    """Lets a test ask as often as it likes."""

    def wait(self, client: str) -> float:
        return 0.0


@pytest.fixture
def office() -> Iterator[PostOffice]:
    with post_office() as opened:
        yield opened


@pytest.fixture
def mailer(office: PostOffice) -> Iterator[Mailer]:
    made = Mailer(office.settings(), pauses=(0.05,))
    yield made
    made.close()


@pytest.fixture
def door(mailer: Mailer) -> Iterator[TeamDoor]:
    with team_door([PasswordWay(mailed=True), MailWay(mailer, Unlimited())]) as one:
        yield one


@pytest.fixture
def ada(door: TeamDoor) -> Member:
    made = door.team.members.add("Ada", Role.OWNER)
    door.team.members.set_address(made.id, ADA)
    return made


def ask(browser: httpx.Client, email: str = ADA, **fields: str) -> httpx.Response:
    return browser.post("/sign-in/mail", data={"email": email, **fields})


def sent(office: PostOffice, number: int = 1, to: str = ADA) -> str:
    """The link of the newest of so many mails to an address."""
    latest = time.monotonic() + HANG
    while len(office.to(to)) < number and time.monotonic() < latest:
        time.sleep(0.02)
    assert len(office.to(to)) == number
    (link,) = links(office.to(to)[-1])
    return link


def press(browser: httpx.Client, link: str) -> httpx.Response:
    return browser.post("/sign-in/mail/open", data={"secret": link.rpartition("/")[2]})


def test_a_link_signs_its_person_in_and_leads_to_the_page_that_was_asked_for(
    door: TeamDoor, office: PostOffice, ada: Member
) -> None:
    with door.browser() as browser:
        assert "Sign in with a link by mail" in browser.get("/sign-in", params={"next": "/library?q=x"}).text
        assert 'value="/library?q=x"' in browser.get("/sign-in/mail", params={"next": "/library?q=x"}).text
        answer = ask(browser, " ADA@example.org ", next="/library?q=x")
        assert answer.status_code == 200 and "is on its way" in answer.text
        link = sent(office)
        assert link.startswith(f"{door.address}/sign-in/mail/open/")
        shown = browser.get(link)
        assert shown.status_code == 200 and "Sign in" in shown.text and ADA in shown.text
        entered = press(browser, link)
        assert 'content="0;url=/library?q=x"' in entered.text
        assert browser.get("/library").text.startswith("ada ")
    assert [one.person for one in door.team.audit.entries() if one.event == "signed in"] == [ada.id]


def test_a_link_serves_once(door: TeamDoor, office: PostOffice, ada: Member) -> None:
    with door.browser() as browser:
        ask(browser)
        link = sent(office)
        assert press(browser, link).status_code == 200
        again = press(browser, link)
        assert again.status_code == 403 and "was used already" in again.text
        assert browser.get(link).status_code == 403
    assert door.refusals()[-1]["reason"] == "link"


def test_opening_a_link_uses_nothing_up(door: TeamDoor, office: PostOffice, ada: Member) -> None:
    """Programs that look through mail open every link, also with HEAD, and in no browser."""
    with door.browser() as browser, door.browser() as scanner:
        ask(browser)
        link = sent(office)
        for method in ("GET", "HEAD", "GET"):
            assert scanner.request(method, link).status_code == 403
            assert browser.request(method, link).status_code == 200
        assert not door.team.sessions.of(ada.id)
        assert press(browser, link).status_code == 200


def test_another_browser_gets_in_neither_by_the_link_nor_by_a_cookie_of_its_own(
    door: TeamDoor, office: PostOffice, ada: Member
) -> None:
    with door.browser() as browser, door.browser() as thief:
        ask(browser)
        link = sent(office)
        ask(thief, "nobody@example.org")
        refused = press(thief, link)
        assert refused.status_code == 403 and "in another browser" in refused.text
        assert thief.get("/").status_code == 303 and door.refusals()[-1]["reason"] == "browser"
        assert press(browser, link).status_code == 200, "the theft has not used it up"


def test_the_answer_is_the_same_whether_an_address_is_known(
    door: TeamDoor, office: PostOffice, ada: Member
) -> None:
    gone = door.team.members.add("Bob", Role.EDITOR)
    door.team.members.set_address(gone.id, "bob@example.org")
    door.team.members.remove(gone.id, by=ada.id)
    unconfirmed = door.team.members.add("Eve", Role.EDITOR, email="eve@example.org")
    answers = set()
    with door.browser() as browser:
        for address in (ADA, "nobody@example.org", "bob@example.org", unconfirmed.email):
            answer = ask(browser, address)
            answers.add((answer.status_code, answer.text.replace(address, "…"), len(answer.headers)))
        sent(office)
    assert len(answers) == 1 and len(office.mails) == 1
    assert len(door.team.audit.entries()) == len(
        [e for e in door.team.audit.entries() if "refused" not in e.event]
    )


def test_one_address_is_sent_so_many_links_an_hour_and_its_person_learns_nothing_of_more(
    door: TeamDoor, office: PostOffice, mailer: Mailer, ada: Member
) -> None:
    with door.browser() as browser:
        texts = {ask(browser).text for _ in range(per_address.MOST + 3)}
        sent(office, per_address.MOST)
        assert mailer.wait(HANG) and len(texts) == 1
    assert len(office.mails) == per_address.MOST


def test_one_browser_asks_so_many_times_a_minute(mailer: Mailer) -> None:
    with team_door([MailWay(mailer)]) as door, door.browser() as browser:
        statuses = [ask(browser, f"{number}@example.org").status_code for number in range(7)]
        assert statuses == [200] * 5 + [429] * 2
        assert "Try again in" in ask(browser).text


def test_an_address_is_forgotten_by_the_count_after_an_hour() -> None:
    clock = [0.0]
    counting = per_address.PerAddress(clock=lambda: clock[0])
    assert [counting.allows(ADA) for _ in range(7)] == [True] * 5 + [False] * 2
    assert counting.allows("bob@example.org")
    clock[0] = per_address.WINDOW + 1
    assert counting.allows(ADA)


def test_a_mail_leads_to_this_server_whatever_a_request_calls_it(
    door: TeamDoor, office: PostOffice, ada: Member
) -> None:
    with door.browser() as browser:
        evil = browser.post("/sign-in/mail", data={"email": ADA}, headers={"host": "evil.example"})
        assert evil.status_code == 403
        ask(browser)
        assert sent(office).startswith(f"{door.address}/")
    named = frozenset({Origin("https", "forky.example", 443)})
    door.sign_in.origins = replace(door.sign_in.origins, allowed=named)
    scope = {"type": "http", "scheme": "http", "headers": [(b"host", b"127.0.0.1:8501")], "server": None}
    assert door.sign_in.link(scope, "/x") == "https://forky.example/x"


def test_whoever_is_invited_comes_in_without_a_password(
    door: TeamDoor, office: PostOffice, ada: Member
) -> None:
    invitation = door.invitation(Role.EDITOR, email="bob@example.org")
    with door.browser() as browser:
        assert "Come in with a link by mail" in browser.get(f"/join/{invitation}").text
        assert "readonly" in browser.get("/sign-in/mail", params={"invitation": invitation}).text
        taken = ask(browser, "bob@example.org", invitation=invitation, name="Bob", handle="ada")
        assert taken.status_code == 400 and "Choose another handle" in taken.text
        ask(browser, "mallory@example.org", invitation=invitation, name="Bob", handle="bob")
        ask(browser, "bob@example.org", invitation=invitation, name="Bob", handle="bob")
        assert press(browser, sent(office, to="bob@example.org")).status_code == 200
        assert browser.get("/").text.startswith("bob ")
        refused = browser.get("/sign-in/mail", params={"invitation": invitation})
        assert refused.status_code == 403
    bob = door.team.members.by_handle("bob")
    assert bob is not None and (bob.role, bob.email) == (Role.EDITOR, "bob@example.org")
    assert office.to("mallory@example.org") == []


def test_an_invitation_that_was_taken_back_lets_nobody_in_by_the_link_either(
    door: TeamDoor, office: PostOffice, ada: Member
) -> None:
    invitation = door.invitation()
    with door.browser() as browser:
        ask(browser, "bob@example.org", invitation=invitation, name="Bob", handle="bob")
        link = sent(office, to="bob@example.org")
        for one in door.team.invitations.all():
            door.team.invitations.revoke(one.id, by=ada.id)
        assert press(browser, link).status_code == 403
    assert door.team.members.by_handle("bob") is None


def test_a_link_ends_with_the_membership_and_with_the_address(
    door: TeamDoor, office: PostOffice, ada: Member
) -> None:
    bob = door.team.members.add("Bob", Role.EDITOR)
    door.team.members.set_address(bob.id, "bob@example.org")
    with door.browser() as browser:
        ask(browser, "bob@example.org")
        first = sent(office, to="bob@example.org")
        secret = door.team.links.make(bob.id, "confirm", minutes=5, about="bob@new.example")
        confirm_address(door.team, secret, bob.id)
        assert press(browser, first).status_code == 403
        ask(browser, "bob@new.example")
        second = sent(office, to="bob@new.example")
        door.team.members.remove(bob.id, by=ada.id)
        refused = press(browser, second)
        assert refused.status_code == 403 and "no longer a member" in refused.text


@pytest.mark.parametrize("address", ["", "nobody", "a@b\r\nBcc: eve@evil.example", "a@", "x" * 300 + "@b.c"])
def test_what_is_no_address_is_sent_nothing(
    door: TeamDoor, office: PostOffice, ada: Member, address: str
) -> None:
    with door.browser() as browser:
        assert ask(browser, address).status_code == 400
    assert office.mails == []


def test_a_password_that_is_chosen_for_an_invitation_to_an_address_lets_that_address_in_too(
    door: TeamDoor, office: PostOffice, ada: Member
) -> None:
    form = {"name": "Bob", "handle": "bob", "password": "correct horse"}
    with door.browser() as browser:
        invitation = door.invitation(email="bob@example.org")
        browser.post("/sign-in/password", data=form | {"invitation": invitation})
        browser.post("/sign-out")
        ask(browser, "bob@example.org")
        press(browser, sent(office, to="bob@example.org"))
        assert browser.get("/").text.startswith("bob ")
    bob = door.team.members.by_handle("bob")
    assert bob is not None
    assert Identity(MAIL, "bob@example.org") in door.team.members.identities(bob.id)
