"""History as a person uses it: read what was done, look before restoring, restore, undo, verify."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.welcome import make_welcome
from tests.builders import talk, texts
from tests.hangs import HANG
from tests.pages.apptest import by_key, keys, press, said, settled, words, written
from tests.pages.workspaces import open_page


def history(chat: Conversation | None) -> AppTest:
    return settled(open_page("history.py", **({"c": chat.id} if chat is not None else {})))


def lines(test: AppTest) -> list[str]:
    return [expander.label for expander in test.expander]


def test_without_a_conversation_it_says_what_will_be_here(forky: Forky) -> None:
    assert "no conversation yet" in words(history(None))


def test_every_operation_is_a_line_newest_first_with_what_it_moved(forky: Forky) -> None:
    chat = talk(forky.create("Names"), "a", "b")
    chat.fork("debug")
    test = history(chat)
    assert [line.split()[0].strip(":[~") for line in lines(test)] == ["Started", "Wrote", "Asked", "Created"]
    assert "Branch “debug”: new, at" in words(test)
    assert "now" in lines(test)[0]


def test_undo_and_redo_from_here_mark_and_unmark_the_line(forky: Forky) -> None:
    chat = talk(forky.create("Names"), "a", "b")
    test = history(chat)
    by_key(test, "bar.undo").click().run()
    assert texts(chat) == ["a"] and any("undone" in line for line in lines(settled(test)))
    by_key(test, "bar.redo").click().run()
    assert texts(chat) == ["a", "b"] and not any("undone" in line for line in lines(test))


def test_restoring_shows_what_would_change_before_it_does(forky: Forky) -> None:
    chat = talk(forky.create("Names"), "a", "b", "c")
    version = chat.view.version
    test = press(history(chat), "history.restore.2")
    assert f"history.restore.{version}" not in keys(test), "there is no way back from the last to itself"
    assert "2 messages would go out of sight" in words(test)
    press(test, "restore.no")
    assert chat.view.version == version
    press(press(test, "history.restore.2"), "restore.yes")
    assert texts(chat) == ["a"]
    press(test, "notice.undo")
    assert texts(chat) == ["a", "b", "c"]


def test_what_was_done_is_said_no_longer_than_it_can_be_taken_back(
    forky: Forky, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "pages.ui.components.notice._SETTLED", HANG
    )  # Every run below belongs to the same click.
    chat = talk(forky.create("Names"), "a", "b", "c")
    test = press(press(history(chat), f"history.restore.{chat.view.version - 1}"), "restore.yes")
    assert "notice.undo" in keys(test.run())
    chat.tags.add("here")
    assert not {key for key in keys(test.run()) if key.startswith("notice")}


def test_a_long_log_comes_in_pages(forky: Forky) -> None:
    chat = talk(forky.create("Names"), *[str(number) for number in range(129)])
    test = history(chat)
    assert len(lines(test)) == 25 and "130 operations" in words(test)
    by_key(test, "history.page").set_value(6).run()
    assert [line.split()[0] for line in lines(settled(test))] == ["Wrote", "Asked"] * 2 + ["Created"]


def test_verify_says_in_words_that_nothing_is_wrong(forky: Forky) -> None:
    chat = talk(forky.create("Names"), "a", "b")
    test = history(chat)
    by_key(test, "history.verify").click().run()
    assert "Nothing is wrong. Checked: 2 messages and 3 operations." in said(settled(test))


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", ":red[x] $x$ and $y$", "**b** [l](http://x)", "~~s~~"]
)
def test_hostile_words_are_text_in_every_line(forky: Forky, text: str) -> None:
    chat = talk(forky.create(text), text)
    chat.rename(text + " again")
    chat.rules.set(system=text)
    test = history(chat)
    drawn = "\n".join((*lines(test), written(test)))
    assert "<script>" not in drawn.replace("\\<", "") and ":red[x" not in drawn and "$x$" not in drawn
    assert "](http" not in drawn and " **b" not in drawn


def test_the_run_of_an_experiment_is_one_line_that_opens(forky: Forky) -> None:
    chat = make_welcome(forky)
    test = history(chat)
    assert not any("what main knows/" in line for line in lines(test))
    (run,) = [line for line in lines(test) if "Ran the experiment" in line]
    assert "8 answers" in run
    number = next(o.number for o in chat.history.operations if o.summary.startswith("Ran the experiment"))
    by_key(test, f"history.run.{number}").set_value(True).run()
    assert sum("what main knows/" in line for line in lines(settled(test))) == 8
    by_key(test, f"history.restore.{number}").click().run()
    assert "what main knows/4/digest" in words(settled(test))
