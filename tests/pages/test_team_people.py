"""The People page as members of a team use it; and that the server of one person has none."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.gateway.access.credentials import Password, hashed
from forky_core.gateway.access.ways.password import ISSUER
from forky_core.people.members import Identity, Member
from forky_core.people.roles import Role
from pages.ui.registry import pages
from tests.pages.apptest import by_key, keys, said, settled
from tests.pages.teams import TeamServer
from tests.pages.workspaces import empty_workspace, open_page


@pytest.fixture
def ada(server: TeamServer) -> Member:
    return server.add("Ada Lovelace", Role.OWNER)


def people(tab: str = "members") -> AppTest:
    return settled(open_page("people.py", tab=tab))


def test_the_server_of_one_person_has_no_such_page(monkeypatch: pytest.MonkeyPatch) -> None:
    with empty_workspace(monkeypatch):
        assert "people" not in {page.name for page in pages()}
        assert "bar.reader" not in keys(settled(open_page("settings.py")))


def test_a_teams_server_lists_it_and_says_who_is_signed_in(server: TeamServer, ada: Member) -> None:
    server.sign_in(ada)
    assert "people" in {page.name for page in pages()}
    assert "Signed in as ada-lovelace, owner" in said(settled(open_page("settings.py")))


def test_everybody_sees_who_is_here_and_only_an_owner_changes_it(
    server: TeamServer, ada: Member, bob: Member
) -> None:
    server.sign_in(bob)
    test = people()
    assert "Ada Lovelace" in said(test) and "bob · joined" in said(test)
    assert not [key for key in keys(test) if key.startswith(("people.role", "people.remove"))]
    assert by_key(test, "people.tab").options == ["Members", "You", "Spending"]
    server.sign_in(ada)
    assert {"people.role.bob", "people.remove.bob", "people.role.ada-lovelace"} <= set(keys(people()))


def test_an_owner_gives_another_role(server: TeamServer, ada: Member, bob: Member) -> None:
    server.sign_in(ada)
    test = people()
    by_key(test, "people.role.bob").select("viewer").run()
    assert "Bob is a viewer from now on." in said(settled(test))
    assert server.team.members.role_of(bob.id) is Role.VIEWER


def test_the_last_owner_stays_one_and_is_told_why(server: TeamServer, ada: Member) -> None:
    server.sign_in(ada)
    test = people()
    by_key(test, "people.role.ada-lovelace").select("editor").run()
    assert "A workspace keeps at least one owner." in said(settled(test))
    assert by_key(test, "people.role.ada-lovelace").value == "owner"
    test = people("me")
    by_key(test, "people.leave").click().run()
    assert "Make somebody else an owner first." in said(settled(test)) and "leave.yes" not in keys(test)
    assert server.team.members.role_of(ada.id) is Role.OWNER


def test_one_of_several_ways_to_sign_in_is_removed_and_the_last_one_stays(
    server: TeamServer, bob: Member
) -> None:
    members = server.team.members
    members.keep_identity(bob.id, Identity(ISSUER, "bob", hashed("correct horse")))
    members.keep_identity(bob.id, Identity("https://id.example.org", "b-1"))
    server.sign_in(bob)
    test = people("me")
    assert "Password, with the handle bob" in said(test) and "id.example.org" in said(test)
    by_key(test, "people.way.0").click().run()
    assert "That way to sign in is removed." in said(settled(test))
    assert [way.issuer for way in members.identities(bob.id)] == ["https://id.example.org"]
    assert "people.way.0" not in keys(test)


def test_whoever_is_removed_is_signed_out(server: TeamServer, ada: Member, bob: Member) -> None:
    server.sign_in(bob)
    server.sign_in(ada)
    test = people()
    by_key(test, "people.remove.bob").click().run()
    by_key(test, "remove.yes").click().run()
    assert "Bob was removed." in said(settled(test))
    assert not server.team.members.role_of(bob.id) and not server.team.sessions.of(bob.id)


def test_a_change_by_somebody_who_is_no_owner_any_more_is_refused(
    server: TeamServer, ada: Member, bob: Member
) -> None:
    server.sign_in(ada)
    test = people()
    server.team.members.set_role(bob.id, Role.OWNER, by=ada.id)
    server.team.members.set_role(ada.id, Role.EDITOR, by=bob.id)
    by_key(test, "people.role.bob").select("viewer").run()
    assert "Only an owner of this workspace may change roles." in said(settled(test))
    assert server.team.members.role_of(bob.id) is Role.OWNER


def test_the_address_of_an_invitation_is_shown_once(server: TeamServer, ada: Member) -> None:
    server.sign_in(ada)
    test = people("invitations")
    by_key(test, "people.invitation.role").set_value("commenter")
    by_key(test, "people.invitation.uses").set_value(3)
    by_key(test, "people.invitation.make").click().run()
    (code,) = settled(test).code
    base, _, secret = code.value.rpartition("/join/")
    opened = server.team.invitations.open(secret)
    assert base.startswith("http") and opened is not None
    assert (opened.role, opened.uses, opened.made_by) == (Role.COMMENTER, 3, ada.id)
    by_key(test, "people.invitation.copied").click().run()
    assert not settled(test).code and secret not in said(test)
    by_key(test, f"people.invitation.back.{opened.id}").click().run()
    assert "No invitation is open." in said(settled(test))
    assert server.team.invitations.open(secret) is None


def test_an_invitation_that_makes_no_sense_is_refused_beside_the_button(
    server: TeamServer, ada: Member
) -> None:
    server.sign_in(ada)
    test = people("invitations")
    by_key(test, "people.invitation.email").set_value("not an address")
    by_key(test, "people.invitation.make").click().run()
    assert "is no address of e-mail" in said(settled(test))
    assert by_key(test, "people.invitation.email").value == "not an address"
    assert not server.team.invitations.all()


def test_a_new_name_stands_everywhere(server: TeamServer, ada: Member, bob: Member) -> None:
    server.sign_in(bob)
    test = people("me")
    by_key(test, "people.name.Bob").set_value("Robert")
    by_key(test, "people.rename").click().run()
    assert "You are Robert from now on." in said(settled(test))
    assert server.team.members.name_of(bob.id) == "Robert"


def test_one_signs_other_browsers_out_and_stays_signed_in(server: TeamServer, ada: Member) -> None:
    first, second, here = (server.sign_in(ada) for _ in range(3))
    test = people("me")
    assert "Firefox on Linux" in said(test) and f"people.session.{here}" not in keys(test)
    by_key(test, f"people.session.{first}").click().run()
    assert {one.id for one in server.team.sessions.of(ada.id)} == {second, here}
    by_key(settled(test), "people.elsewhere").click().run()
    assert {one.id for one in server.team.sessions.of(ada.id)} == {here}
    assert "people.elsewhere" not in keys(settled(test))


def test_a_password_is_changed_with_the_former_one(server: TeamServer, ada: Member) -> None:
    server.team.members.keep_identity(ada.id, Identity(ISSUER, ada.handle, hashed("correct horse")))
    server.sign_in(ada)
    here = server.sign_in(ada)
    test = people("me")
    _type_passwords(test, "wrong horse", "battery staple", "battery staple")
    assert "That is not your password now." in said(settled(test))
    _type_passwords(test, "correct horse", "battery staple", "battery staplex")
    assert "are not the same" in said(settled(test))
    _type_passwords(test, "correct horse", "battery staple", "battery staple")
    assert "Your password is changed" in said(settled(test))
    (identity,) = server.team.members.identities(ada.id)
    assert Password(identity.secret).fits("battery staple")
    assert [one.id for one in server.team.sessions.of(ada.id)] == [here]
    assert not any(by_key(test, f"people.password.{name}").value for name in ("former", "new", "again"))


def _type_passwords(test: AppTest, former: str, new: str, again: str) -> None:
    for name, text in (("former", former), ("new", new), ("again", again)):
        by_key(test, f"people.password.{name}").set_value(text)
    by_key(test, "people.password.save").click().run()


def test_the_audit_log_is_read_as_sentences_and_names_no_conversation_that_is_not_seen(
    server: TeamServer, ada: Member, bob: Member
) -> None:
    chat = server.seen_by(bob).create("A plan of Bob's")
    server.team.sharing.share(chat.id, ada.id, Role.VIEWER, by=bob.id)
    server.team.sharing.share(chat.id, ada.id, Role.NONE, by=bob.id)
    server.sign_in(ada)
    log = said(people("audit"))
    assert (
        "Bob (bob) gave Ada Lovelace (ada-lovelace) the role of viewer in a conversation that you do not see"
        in log
    )
    assert "Ada Lovelace (ada-lovelace) signed in" in log and "A plan" not in log and "person:" not in log


def test_an_owner_is_shown_a_link_to_another_password_once(
    server: TeamServer, ada: Member, bob: Member
) -> None:
    server.sign_in(ada)
    test = settled(open_page("people.py"))
    by_key(test, "people.remove.bob").click().run()
    by_key(test, "remove.password").click().run()
    (code,) = settled(test).code
    base, _, secret = code.value.rpartition("/sign-in/reset/open/")
    assert base.startswith("http") and "gets in as Bob" in said(test)
    link = server.team.links.find(secret)
    assert link is not None and (link.person, link.made_by) == (bob.id, ada.id)
    by_key(test, "people.reset.copied").click().run()
    assert not settled(test).code and not settled(open_page("people.py")).code


def test_an_earlier_way_in_is_shown_as_one_that_is_gone_and_is_not_the_one_that_is_left(
    server: TeamServer, ada: Member
) -> None:
    members = server.team.members
    members.keep_identity(ada.id, Identity(ISSUER, "ada", hashed("correct horse")))
    members.keep_identity(ada.id, Identity("mail", "ada@example.org"))
    members.keep_identity(ada.id, Identity("passkey", "a key", "{}"))
    server.sign_in(ada)
    test = people("me")
    assert "Mail, which lets nobody in any more" in said(test)
    assert "Passkey, which lets nobody in any more" in said(test)
    by_key(test, "people.way.0").click().run()
    assert "Add another one first." in said(settled(test))
    by_key(test, "people.way.1").click().run()
    assert [way.issuer for way in members.identities(ada.id)] == [ISSUER, "passkey"]
