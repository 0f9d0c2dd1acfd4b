"""Links on the pages: made in the dialogs, listed in the Library and in Settings, forked on a page of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.people.links.links import Links
from forky_core.people.roles import Role
from pages.ui.components.downloads import offers
from tests.builders import debugged, talk
from tests.formats.reports.links import link_to
from tests.hangs import HANG
from tests.pages.apptest import by_key, keys, settled, words
from tests.pages.teams import TeamServer
from tests.pages.workspaces import open_page


def dialog(chat: Conversation) -> AppTest:
    """The dialog that exports or shares a conversation, at the form that makes a link."""
    test = AppTest.from_file(str(Path(__file__).with_name("link_dialog.py")), default_timeout=HANG)
    test.session_state["id"] = chat.id
    test = settled(test.run())
    by_key(test, "share.as").set_value("link").run()
    return settled(test)


def secret_in(test: AppTest) -> str:
    return test.code[0].value.rpartition("/s/")[2]


def test_what_looks_private_is_offered_before_a_link_is_made(forky: Forky) -> None:
    chat = debugged(forky)
    chat.say("Write to jane.doe@example.com.")
    test = dialog(chat)
    offer = offers.find(by_key(test, "link.see").proto.url.rpartition("/")[2])
    assert offer is not None
    seen = b"".join(offer.pieces())
    by_key(test, "link.make").click().run()
    links = Links(forky.store)
    page = links.page(links.find(secret_in(settled(test))))
    assert page == seen and b"jane" not in page, "it is the page that could be looked at"
    by_key(test, "link.tick.branch.0").uncheck().run()
    by_key(test, "link.make").click().run()
    assert b"jane.doe@example.com" in links.page(links.find(secret_in(settled(test))))


def test_a_live_link_to_all_branches_goes_with_what_is_ticked(forky: Forky) -> None:
    chat = debugged(forky)
    test = dialog(chat)
    by_key(test, "link.scope").set_value("conversation").run()
    by_key(test, "link.along.costs").check().run()
    by_key(test, "link.live").set_value(True).run()
    by_key(test, "link.make").click().run()
    link = Links(forky.store).find(secret_in(settled(test)))
    assert (link.thing, link.live, link.included) == ("conversation", True, ("costs",))
    by_key(test, f"link.revoke.{link.id}").click().run()
    assert not test.code and Links(forky.store).all()[0].revoked


def test_one_message_is_chosen(forky: Forky) -> None:
    chat = talk(forky.create("Ports"), "Which?", "80.")
    test = dialog(chat)
    by_key(test, "link.scope").set_value("message").run()
    by_key(test, "link.path").set_value(True).run()
    by_key(test, "link.make").click().run()
    assert Links(forky.store).find(secret_in(settled(test))).which == (chat.path()[-1].id, "path")


def test_the_library_lists_my_links_with_how_often_each_was_opened(forky: Forky) -> None:
    chat = talk(forky.create("Ports"), "Which?", "80.")
    new = link_to(forky, chat)
    links = Links(forky.store)
    links.count(links.find(new.secret))
    library = settled(open_page("library.py"))
    by_key(library, "library.tab").set_value("shared").run()
    said = words(settled(library))
    assert "Your links" in said and "opened 1 time" in said and "Shared with you" not in said
    assert new.secret not in said
    by_key(library, f"library.link.revoke.{new.link.id}").click().run()
    assert "No link of yours is open" in words(settled(library)) and "expired or was revoked" in words(
        library
    )


def test_the_library_of_a_member_lists_what_was_shared_by_whom(server: TeamServer) -> None:
    ada, bob = server.add("Ada", Role.OWNER), server.add("Bob", Role.EDITOR)
    hers, his = server.seen_by(ada), server.seen_by(bob)
    theirs = talk(hers.create("Ports"), "Which?", "80.")
    own = talk(his.create("Ducks"), "A name?", "Gerald.")
    server.team.sharing.share(theirs.id, bob.id, Role.VIEWER, by=ada.id)
    server.team.sharing.share(own.id, ada.id, Role.VIEWER, by=bob.id)
    by_ada, by_bob = link_to(hers, theirs), link_to(his, own)
    server.sign_in(bob)
    library = settled(open_page("library.py"))
    by_key(library, "library.tab").set_value("shared").run()
    said = words(settled(library))
    assert "Links of others" in said and "Shared with you" in said and "Shared by you" in said
    assert f"library.link.revoke.{by_bob.link.id}" in keys(library)
    assert f"library.others.revoke.{by_ada.link.id}" not in keys(library), "a viewer revokes nothing"


def test_who_may_not_share_a_conversation_is_told(server: TeamServer) -> None:
    ada, bob = server.add("Ada", Role.OWNER), server.add("Bob", Role.COMMENTER)
    chat = talk(server.seen_by(ada).create("Ports"), "Which?", "80.")
    server.team.sharing.share(chat.id, bob.id, Role.COMMENTER, by=ada.id)
    server.sign_in(bob)
    test = dialog(chat)
    assert "link.make" not in keys(test) and "by the editors" in str([one.value for one in test.info])


def test_a_link_that_is_made_and_revoked_on_a_page_is_in_the_audit_log(server: TeamServer) -> None:
    ada = server.add("Ada", Role.OWNER)
    chat = talk(server.seen_by(ada).create("Ports"), "Which?", "80.")
    server.sign_in(ada)
    test = dialog(chat)
    by_key(test, "link.make").click().run()
    link = Links(server.forky.store).all()[0]
    assert link.by == ada.id
    by_key(settled(test), f"link.revoke.{link.id}").click().run()
    entries = [one for one in server.team.audit.entries() if one.event.startswith("link")]
    assert [(one.event, one.person) for one in entries] == [("link made", ada.id), ("link revoked", ada.id)]
    assert "Ports" not in "".join(one.about for one in entries)


def test_what_a_link_shows_is_forked_and_opened(server: TeamServer) -> None:
    ada, bob = server.add("Ada", Role.OWNER), server.add("Bob", Role.COMMENTER)
    hers, his = server.seen_by(ada), server.seen_by(bob)
    chat = talk(hers.create("Ports"), "Which?", "80.")
    new = link_to(hers, chat)
    server.sign_in(bob)
    page = settled(open_page("fork.py", link=new.secret))
    assert "Ports" in words(page) and "keep their ids" in words(page) and "fork.branch" not in keys(page)
    by_key(page, "fork.own").click().run()
    (own,) = his.conversations()
    assert [one.id for one in his.conversation(own.id).path()] == [one.id for one in chat.path()]
    again = settled(open_page("fork.py", link=new.secret))
    assert "You did this before" in words(again)
    server.team.sharing.share(chat.id, bob.id, Role.COMMENTER, by=ada.id)
    itself = settled(open_page("fork.py", link=new.secret))
    assert by_key(itself, "fork.name").value == "bob/fork"
    by_key(itself, "fork.branch").click().run()
    assert "bob/fork" in chat.view.branches


def test_a_link_that_is_revoked_while_its_page_is_open_is_forked_no_more(forky: Forky) -> None:
    new = link_to(forky, debugged(forky), "branch", "main")
    page = settled(open_page("fork.py", link=new.secret))
    before = len(forky.conversations())
    Links(forky.store).revoke(new.link.id)
    by_key(page, "fork.own").click().run()
    assert "was revoked" in str([one.value for one in settled(page).info])
    assert len(forky.conversations()) == before


@pytest.mark.parametrize("why", ["revoked", "unknown", "comparison"])
def test_what_cannot_be_forked_is_a_sentence_without_a_title(forky: Forky, why: str) -> None:
    chat = debugged(forky)
    new = link_to(
        forky, chat, *(("comparison", "main", "debug") if why == "comparison" else ("branch", "main"))
    )
    if why == "revoked":
        Links(forky.store).revoke(new.link.id)
    page = settled(open_page("fork.py", link="x" * 22 if why == "unknown" else new.secret))
    said = str([one.value for one in page.info])
    expected = {"revoked": "was revoked", "unknown": "no such link", "comparison": "cannot be forked"}[why]
    assert expected in said and "Enums" not in said + words(page) and "fork.own" not in keys(page)
