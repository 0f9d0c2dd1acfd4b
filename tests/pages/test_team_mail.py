"""The pages of a team that sends mail: another password, one's address, what is sent to oneself, and a test."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.settings import SmtpSettings
from forky_core.team.account import confirm_address, has_identity
from forky_core.team.delivery import Delivery
from forky_core.team.mail import Mailer
from forky_core.team.members import Identity, Member
from forky_core.team.roles import Role
from pages.ui import sign_in
from tests.app_server import free_port
from tests.hangs import HANG
from tests.pages.apptest import by_key, keys, settled
from tests.pages.teams import TeamServer
from tests.pages.test_team_people import said
from tests.pages.workspaces import open_page
from tests.team.post_office import SENDER, PostOffice, links, post_office


@pytest.fixture
def office(server: TeamServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostOffice]:
    with post_office() as opened:
        mailer = Mailer(opened.settings(), pauses=(0.05,))
        monkeypatch.setattr(sign_in, "MAILER", mailer)
        made = Delivery(server.team, mailer=mailer)
        monkeypatch.setattr(sign_in, "DELIVERY", made)
        yield opened
        mailer.close()


@pytest.fixture
def ada(server: TeamServer) -> Member:
    return server.add("Ada Lovelace", Role.OWNER)


def me() -> AppTest:
    return settled(open_page("people.py", tab="me"))


def prove(server: TeamServer, session: str) -> None:
    server.team.sessions.renew(session, proved=True)


def test_an_owner_is_shown_a_link_to_another_password_once(server: TeamServer, ada: Member) -> None:
    bob = server.add("Bob", Role.EDITOR)
    server.sign_in(ada)
    test = settled(open_page("people.py"))
    by_key(test, "people.remove.bob").click().run()
    by_key(test, "remove.password").click().run()
    (code,) = settled(test).code
    base, _, secret = code.value.rpartition("/sign-in/reset/open/")
    assert base.startswith("http") and "gets in as Bob" in said(test)
    link = server.team.links.find(secret, "reset")
    assert link is not None and (link.person, link.made_by) == (bob.id, ada.id)
    by_key(test, "people.reset.copied").click().run()
    assert not settled(test).code and not settled(open_page("people.py")).code


def test_an_address_is_confirmed_after_a_proof(server: TeamServer, office: PostOffice, ada: Member) -> None:
    session = server.sign_in(ada)
    test = me()
    by_key(test, "people.address.new").set_value("Ada@Example.org")
    by_key(test, "people.address.save").click().run()
    assert "/sign-in/again?next=%2Fpeople%3Ftab%3Dme" in said(settled(test))
    prove(server, session)
    test = me()
    by_key(test, "people.address.new").set_value("Ada@Example.org")
    by_key(test, "people.address.save").click().run()
    assert "on its way to ada@example.org" in said(settled(test))
    latest = time.monotonic() + HANG
    while not office.mails and time.monotonic() < latest:
        time.sleep(0.02)
    (link,) = links(office.mails[0])
    assert office.mails[0]["To"] == "ada@example.org" and "/sign-in/address/" in link
    confirm_address(server.team, link.rpartition("/")[2], ada.id)
    assert has_identity(server.team, ada.id, "mail")
    shown = said(me())
    assert "ada@example.org" in shown and "confirmed" in shown and "Links by mail to" in shown
    test = me()
    by_key(test, "people.address.new").set_value("nobody")
    by_key(test, "people.address.save").click().run()
    assert "is no address of e-mail" in said(settled(test))


def test_nobody_has_many_links_sent_to_others(server: TeamServer, office: PostOffice, ada: Member) -> None:
    prove(server, server.sign_in(ada))
    test = me()
    for number in range(6):
        by_key(test, "people.address.new").set_value(f"{number}@example.org")
        by_key(test, "people.address.save").click().run()
        settled(test)
    assert "Many links were sent" in said(test) and len(office.mails) <= 5


def test_without_mail_nothing_of_it_can_be_chosen(server: TeamServer, ada: Member) -> None:
    server.sign_in(ada)
    test = me()
    assert "sends no mail" in said(test) and "people.address.new" not in keys(test)
    assert "people.notices" not in keys(test)
    assert "FORKY_SMTP_HOST" in said(settled(open_page("settings.py")))


def test_a_person_chooses_what_is_sent_to_them(server: TeamServer, office: PostOffice, ada: Member) -> None:
    server.sign_in(ada)
    assert "people.notices" not in keys(me())
    server.team.members.set_address(ada.id, "ada@example.org")
    test = me()
    assert by_key(test, "people.notices").value == "daily"
    by_key(test, "people.notices").set_value("at once").run()
    made = sign_in.DELIVERY
    assert made is not None and made.choice(ada.id).mail == "at once"


def test_an_owner_sends_herself_a_test_and_reads_why_it_fails(
    server: TeamServer, office: PostOffice, ada: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.team.members.set_address(ada.id, "ada@example.org")
    server.sign_in(ada)
    test = settled(open_page("settings.py"))
    by_key(test, "settings.mail.test").click().run()
    assert "The mail server took a test for ada@example.org" in said(settled(test))
    assert [mail["To"] for mail in office.mails] == ["ada@example.org"]
    port = free_port()
    monkeypatch.setattr(sign_in, "MAILER", Mailer(SmtpSettings("127.0.0.1", SENDER, port, "off")))
    test = settled(open_page("settings.py"))
    by_key(test, "settings.mail.test").click().run()
    assert f"{port} does not answer" in "\n".join(one.value for one in settled(test).warning).replace(
        "\\", ""
    )


def test_only_owners_see_the_mail_server(server: TeamServer, office: PostOffice, ada: Member) -> None:
    server.sign_in(server.add("Bob", Role.EDITOR))
    assert "settings.mail.test" not in keys(settled(open_page("settings.py")))


def test_an_invitation_to_an_address_is_sent_to_it(
    server: TeamServer, office: PostOffice, ada: Member
) -> None:
    server.sign_in(ada)
    test = settled(open_page("people.py", tab="invitations"))
    by_key(test, "people.invitation.email").set_value("bob@example.org")
    by_key(test, "people.invitation.make").click().run()
    (code,) = settled(test).code
    mailer = sign_in.MAILER
    assert mailer is not None and mailer.wait(HANG)
    (mail,) = office.mails
    assert mail["To"] == "bob@example.org" and links(mail) == [code.value]
    assert "Ada Lovelace invites you" in mail.get_content() and "on its way by mail" in said(test)


def test_without_mail_the_last_way_in_is_no_address(server: TeamServer, ada: Member) -> None:
    server.team.members.idle_issuers = ("mail",)
    server.team.members.keep_identity(ada.id, Identity("password", "ada", "x"))
    server.team.members.set_address(ada.id, "ada@example.org")
    server.sign_in(ada)
    test = me()
    by_key(test, "people.way.0").click().run()
    assert "Add another one first." in said(settled(test))
