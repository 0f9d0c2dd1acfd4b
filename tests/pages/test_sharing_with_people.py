"""The dialog that says who sees a conversation, and the marks and lists of the Library on a team's server."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.people.sharing import SharedWith
from tests.builders import talk
from tests.hangs import HANG
from tests.pages.apptest import ask_sidebar, by_key, keys, said, settled
from tests.pages.teams import TeamServer
from tests.pages.workspaces import empty_workspace, open_page


@pytest.fixture
def chat(server: TeamServer, bob: Member) -> Conversation:
    """Bob's, and he looks at it."""
    begun = talk(server.seen_by(bob).create("Boats"), "hello", "hi")
    server.sign_in(bob)
    return begun


def shared(server: TeamServer, chat: Conversation) -> SharedWith:
    return server.team.sharing.of(chat.id)


def dialog(chat: Conversation) -> AppTest:
    test = AppTest.from_file(str(Path(__file__).with_name("sees_dialog.py")), default_timeout=HANG)
    test.query_params["c"] = chat.id
    return settled(test.run())


def test_it_is_private_until_it_is_shown_to_everybody(
    server: TeamServer, ada: Member, chat: Conversation
) -> None:
    test = settled(open_page("library.py"))
    mark = by_key(test, f"library.sees.{chat.id}")
    assert mark.label == "Private"
    mark.click().run()
    assert by_key(settled(test), "sees.everyone").value is False
    test = dialog(chat)
    by_key(test, "sees.everyone").set_value(True).run()
    assert shared(server, chat).everyone
    server.sign_in(ada)
    test = settled(open_page("library.py"))
    assert by_key(test, f"library.sees.{chat.id}").label.replace("\\", "") == "Bob · everybody"


def test_somebody_is_added_gets_another_role_and_is_removed(
    server: TeamServer, ada: Member, chat: Conversation
) -> None:
    test = dialog(chat)
    by_key(test, "sees.who").select(ada.id).run()
    by_key(test, "sees.add").click().run()
    assert shared(server, chat).people == {ada.id: Role.COMMENTER}
    by_key(settled(test), "sees.role.ada").select("viewer").run()
    assert shared(server, chat).people == {ada.id: Role.VIEWER}
    by_key(settled(test), "sees.remove.ada").click().run()
    assert not shared(server, chat).people and "sees.role.ada" not in keys(settled(test))


def test_a_conversation_is_handed_over(
    server: TeamServer, ada: Member, bob: Member, chat: Conversation
) -> None:
    test = dialog(chat)
    by_key(test, "sees.to").select(ada.id).run()
    by_key(test, "sees.hand_over").click().run()
    assert shared(server, chat) == SharedWith(ada.id, False, {bob.id: Role.EDITOR})
    assert "It belongs to Ada" in said(settled(test)) and "sees.everyone" not in keys(test)


def test_whoever_it_is_shared_with_reads_who_sees_it_changes_nothing_and_leaves(
    server: TeamServer, ada: Member, bob: Member, chat: Conversation
) -> None:
    server.team.sharing.share(chat.id, ada.id, Role.COMMENTER, by=bob.id)
    server.sign_in(ada)
    test = dialog(chat)
    assert "It belongs to Bob, who alone may change this." in said(test)
    assert "You are a commenter of it." in said(test)
    assert not {key for key in keys(test) if key.startswith(("sees.role", "sees.everyone", "sees.add"))}
    by_key(test, "sees.leave").click().run()
    assert "There is no such conversation" in settled(test).info[0].value
    assert f"library.sees.{chat.id}" not in keys(settled(open_page("library.py")))


def test_what_was_taken_away_meanwhile_is_refused_in_a_sentence(
    server: TeamServer, ada: Member, bob: Member, chat: Conversation
) -> None:
    test = dialog(chat)
    server.team.sharing.hand_over(chat.id, ada.id, by=bob.id)
    by_key(test, "sees.everyone").set_value(True).run()
    assert "This conversation belongs to Ada, who alone may say who sees it." in said(settled(test))
    assert not shared(server, chat).everyone


def test_the_library_lists_ones_own_what_was_shared_with_one_and_by_one(
    server: TeamServer, ada: Member, bob: Member, chat: Conversation
) -> None:
    private = server.seen_by(bob).create("Alone")
    theirs = server.seen_by(ada).create("Ada's")
    server.team.sharing.share(chat.id, ada.id, Role.VIEWER, by=bob.id)
    server.team.sharing.share_with_everyone(theirs.id, shared=True, by=ada.id)
    lists = {
        "all": {chat.id, private.id, theirs.id},
        "mine": {chat.id, private.id},
        "with_me": {theirs.id},
        "by_me": {chat.id},
    }
    test = settled(open_page("library.py"))
    for whose, listed in lists.items():
        by_key(test, "library.whose").select(whose).run()
        found = {key.removeprefix("library.sees.") for key in keys(settled(test)) if "library.sees." in key}
        assert found == listed


def test_the_chat_page_shows_the_mark_and_opens_the_dialog(server: TeamServer, chat: Conversation) -> None:
    test = settled(open_page("chat.py", c=chat.id))
    by_key(test, "chat.sees").click().run()
    assert "sees.everyone" in keys(settled(test))


def test_new_never_leads_to_somebody_elses_empty_conversation(
    server: TeamServer, ada: Member, bob: Member, chat: Conversation
) -> None:
    theirs = server.seen_by(ada).create()
    server.team.sharing.share_with_everyone(theirs.id, shared=True, by=ada.id)
    test = settled(open_page("chat.py", c=chat.id))
    settled(ask_sidebar(test, new=1))
    own = {id for id, found in server.team.sharing.of_all().items() if found.owner == bob.id}
    assert len(own) == 2 and chat.id in own, "it begins another one"


def test_the_server_of_one_person_shows_none_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with empty_workspace(monkeypatch) as forky:
        alone = _talked(forky)
        for page in ("library.py", "chat.py"):
            found = keys(settled(open_page(page, **({"c": alone.id} if page == "chat.py" else {}))))
            assert not {key for key in found if "sees" in key or key == "library.whose"}


def _talked(forky: Forky) -> Conversation:
    return talk(forky.create("Alone"), "hello", "hi")
