"""Several workspaces as their members use them on the pages: the switcher, the list, and moving a conversation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.team.members import Member
from forky_core.team.roles import Role
from pages.ui import workspace as served
from tests.builders import talk
from tests.hangs import HANG
from tests.pages.apptest import by_key, keys, settled
from tests.pages.teams import TeamServer, team_server
from tests.pages.test_sharing_with_people import dialog
from tests.pages.test_team_people import people, said
from tests.pages.workspaces import open_page


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[TeamServer]:
    with team_server(monkeypatch, workspaces=tmp_path / "workspaces") as opened:
        yield opened


@pytest.fixture
def bob(server: TeamServer, ada: Member) -> Member:
    return server.add("Bob", Role.EDITOR)


def change(workspace: str) -> AppTest:
    test = AppTest.from_file(str(Path(__file__).with_name("workspace_dialog.py")), default_timeout=HANG)
    test.query_params["w"] = workspace
    return settled(test.run())


def test_one_workspace_shows_neither_a_switcher_nor_a_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with team_server(monkeypatch) as server:
        server.sign_in(server.add("Ada", Role.OWNER))
        assert "bar.workspace" not in keys(settled(open_page("settings.py")))
        assert "Workspaces" not in by_key(people(), "people.tab").options


def test_a_shared_workspace_is_made_and_the_switcher_leads_into_it(server: TeamServer, ada: Member) -> None:
    server.sign_in(ada)
    test = people("workspaces")
    assert "bar.workspace" not in keys(test)
    by_key(test, "people.workspace.title").input("The boat club")
    by_key(test, "people.workspace.make").click().run()
    (_, club) = (one for one, _ in server.team.workspaces.of(ada.id))
    assert club.title == "The boat club" and "is made" in said(settled(test))
    test = people("workspaces")
    assert f'href="/w/{club.id}/"' in said(test) and "aria-current" in said(test)
    server.go_to(club.id)
    chat = talk(served.seen_by(ada.id, club.id).create("Keys"), "Where is it?")
    assert server.forky.conversations() == ()
    shown = said(settled(open_page("library.py"))) + "".join(keys(open_page("library.py")))
    assert str(chat.id)[:8] in shown or "Keys" in shown


def test_the_switcher_says_what_is_new_in_other_workspaces_and_leads_to_it(
    server: TeamServer, ada: Member, bob: Member
) -> None:
    server.sign_in(bob)
    club = server.team.workspaces.make("The boat club", owner=ada.id, by=ada.id).id
    server.team.of(club).members.bring_back(bob.id, Role.EDITOR, by=ada.id)
    test = settled(open_page("settings.py"))
    assert f'href="/w/{club}/inbox"' in said(test) and "1 new" in said(test)
    inbox = server.team.of(club).inbox
    (notice,) = inbox.of(bob.id)
    inbox.mark(bob.id, notice.number)
    test = settled(open_page("settings.py"))
    assert f'href="/w/{club}/"' in said(test) and " new<" not in said(test)


def test_whom_an_owner_knows_from_another_workspace_is_added_without_an_invitation(
    server: TeamServer, ada: Member, bob: Member
) -> None:
    server.sign_in(ada)
    assert "people.add.who" not in keys(people("invitations")), "nobody is known from elsewhere"
    club = server.team.workspaces.make("The boat club", owner=ada.id, by=ada.id).id
    server.go_to(club)
    test = people("invitations")
    assert by_key(test, "people.add.yes").disabled
    by_key(test, "people.add.who").select(bob.id).run()
    by_key(test, "people.add.role").select("viewer").run()
    by_key(test, "people.add.yes").click().run()
    assert server.team.of(club).members.role_of(bob.id) is Role.VIEWER
    assert "Bob is a viewer from now on" in said(settled(test))
    assert "people.add.who" not in keys(test)
    server.sign_in(bob)
    assert "people.add.who" not in keys(people("invitations"))


def test_what_is_refused_is_said_beside_the_button(server: TeamServer, ada: Member) -> None:
    server.sign_in(ada)
    test = people("workspaces")
    by_key(test, "people.workspace.make").click().run()
    assert "needs a name" in said(settled(test)) and len(server.team.workspaces.all()) == 1


def test_who_may_make_none_has_one_of_their_own(server: TeamServer, bob: Member) -> None:
    server.sign_in(bob)
    test = people("workspaces")
    assert "people.workspace.make" not in keys(test)
    by_key(test, "people.workspace.own").click().run()
    own = server.team.workspaces.personal(bob.id)
    assert own is not None and own.title == "My own"
    assert "people.workspace.own" not in keys(settled(test))


def test_an_owner_renames_hands_over_and_leaves(server: TeamServer, ada: Member, bob: Member) -> None:
    club = server.team.workspaces.make("The boat club", owner=ada.id, by=ada.id).id
    server.team.of(club).members.bring_back(bob.id, Role.VIEWER)
    server.sign_in(bob)
    assert {"workspace.leave"} == {key for key in keys(change(club)) if key.startswith("workspace.")}
    server.sign_in(ada)
    test = change(club)
    by_key(test, "workspace.title").input("The rowing club").run()
    by_key(test, "workspace.rename").click().run()
    assert server.team.workspaces.get(club).title == "The rowing club"
    test = change(club)
    by_key(test, "workspace.to").select(bob.id).run()
    by_key(test, "workspace.hand").click().run()
    assert server.team.of(club).members.role_of(bob.id) is Role.OWNER
    by_key(change(club), "workspace.leave").click().run()
    assert server.team.of(club).members.role_of(ada.id) is Role.NONE


def test_an_archived_workspace_is_opened_again(server: TeamServer, ada: Member) -> None:
    club = server.team.workspaces.make("The boat club", owner=ada.id, by=ada.id).id
    server.sign_in(ada)
    by_key(change(club), "workspace.archive").click().run()
    assert not server.team.workspaces.is_open(club)
    test = people("workspaces")
    by_key(test, f"people.workspace.again.{club}").click().run()
    assert server.team.workspaces.is_open(club) and "is open again" in said(settled(test))


def test_a_page_of_a_workspace_that_one_may_not_enter_says_so(
    server: TeamServer, ada: Member, bob: Member
) -> None:
    club = server.team.workspaces.make("The boat club", owner=ada.id, by=ada.id).id
    server.sign_in(bob)
    server.go_to(club)
    assert "boat" not in said(settled(open_page("library.py")))


def test_a_conversation_is_moved_where_one_may_begin_some(
    server: TeamServer, ada: Member, bob: Member
) -> None:
    chat = talk(server.seen_by(bob).create("Boats"), "hello", "hi")
    server.sign_in(bob)
    assert "sees.move" not in keys(dialog(chat))
    club = server.team.workspaces.make("The boat club", owner=ada.id, by=ada.id).id
    server.team.of(club).members.bring_back(bob.id, Role.COMMENTER)
    test = dialog(chat)
    by_key(test, "sees.workspace").select(club).run()
    by_key(test, "sees.move").click().run()
    there = served.seen_by(bob.id, club).conversation(chat.id)
    assert [message.text for message in there.path()] == ["hello", "hi"]
    assert server.seen_by(bob).conversation(chat.id).view.trashed


def test_owners_of_further_workspaces_decide_about_keys_but_not_about_the_server(
    server: TeamServer, ada: Member, bob: Member
) -> None:
    club = server.team.workspaces.make("The boat club", owner=bob.id, by=bob.id).id
    server.sign_in(bob)
    server.go_to(club)
    shown = set(keys(settled(open_page("settings.py"))))
    assert "settings.backup" not in shown and not [key for key in shown if "settings.server" in key]
    assert "settings.token.make" in shown
    server.sign_in(ada)
    server.team.of(club).members.bring_back(ada.id, Role.OWNER)
    assert "settings.verify" in keys(settled(open_page("settings.py")))
