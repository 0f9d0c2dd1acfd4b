"""Giving one thing away: the buttons that lead to the dialog, the file, the address, and the list in Settings."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.people.links.link import LinkEnded
from forky_core.people.links.links import Links
from pages.ui.components.downloads import offers
from tests.builders import debugged, talk
from tests.hangs import HANG
from tests.pages.apptest import by_key, compare_act, settled, words
from tests.pages.workspaces import open_page


def dialog(chat: Conversation, thing: str, *which: str) -> AppTest:
    test = AppTest.from_file(str(Path(__file__).with_name("give_dialog.py")), default_timeout=HANG)
    test.session_state["id"], test.session_state["thing"], test.session_state["which"] = chat.id, thing, which
    return settled(test.run())


def file(test: AppTest) -> str:
    """What the download of the dialog holds."""
    found = offers.find(by_key(test, "give.download").proto.url.rpartition("/")[2])
    assert found is not None
    return b"".join(found.pieces()).decode()


def test_what_is_ticked_is_replaced_in_the_file(forky: Forky) -> None:
    chat = debugged(forky)
    chat.say("Write to jane.doe@example.com.")
    test = dialog(chat, "comparison", "main", "debug")
    assert "jane.doe" not in file(test) and "[e-mail 1]" in file(test)
    by_key(test, "give.tick.comparison.0").uncheck().run()
    assert "jane.doe@example.com" in file(settled(test))
    by_key(test, "give.form").select("markdown").run()
    assert file(settled(test)).startswith("# Enums")


def test_a_link_is_made_shown_once_and_revoked(forky: Forky) -> None:
    chat = debugged(forky)
    test = dialog(chat, "comparison", "main", "debug")
    by_key(test, "give.as").set_value("link").run()
    by_key(settled(test), "link.make").click().run()
    secret = settled(test).code[0].value.rpartition("/s/")[2]
    links = Links(forky.store)
    link = links.find(secret)
    assert b"collect members lazily" in links.page(link)
    settings = settled(open_page("settings.py"))
    assert "## Links" in words(settings) and secret not in words(settings)
    by_key(settings, f"settings.link.revoke.{link.id}").click().run()
    assert "expired or was revoked" in words(settled(settings))
    with pytest.raises(LinkEnded):
        links.find(secret)


def test_a_replay_has_what_was_undone_only_where_that_is_switched_on(forky: Forky) -> None:
    chat = talk(forky.create("Ports"), "Which?", "80.")
    chat.say("Said by mistake.")
    chat.undo()
    test = dialog(chat, "replay")
    assert "Said by mistake." not in file(test)
    by_key(test, "give.everything").set_value(True).run()
    assert "Said by mistake." in file(settled(test))


def test_one_of_several_merges_is_chosen(forky: Forky) -> None:
    chat = debugged(forky)
    chat.merge(chat.plan_merge("debug", strategy="squash"))
    assert chat.head is not None
    first = chat.head.id
    side = talk(chat.fork("side"), "What about names?", "Decision: names are short.")
    chat.merge(chat.plan_merge(side, strategy="squash", force=True))
    test = dialog(chat, "merge")
    assert "“side” merged" in words(test)
    by_key(test, "give.merge").select(first).run()
    assert "“debug” merged" in words(settled(test))


def test_what_cannot_be_given_away_is_a_sentence(forky: Forky) -> None:
    chat = talk(forky.create("Ports"), "Which?", "80.")
    assert "Nothing has been merged" in words(dialog(chat, "merge"))


def test_the_pages_lead_to_the_dialog(forky: Forky) -> None:
    chat = debugged(forky)
    poll = chat.polls.open(["main", "debug"], blind=False)
    chat.merge(chat.plan_merge("debug", strategy="squash"))
    for page, key, more in (
        ("history.py", "history.give", {}),
        ("merge.py", "merge.give_earlier", {}),
        ("vote.py", "vote.give", {"poll": str(poll.number)}),
    ):
        test = settled(open_page(page, c=chat.id, b="main", **more))
        by_key(test, key).click().run()
        assert by_key(settled(test), "give.form").options, page
    test = open_page("compare.py", c=chat.id, b="main", **{"with": "main,debug"})
    assert by_key(settled(compare_act(test, "share")), "give.form").options
