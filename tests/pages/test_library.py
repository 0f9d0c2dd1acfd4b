"""The Library as a person uses it: find, open, rename, throw away, take back, delete for good, search."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.forky import Forky
from forky_core.model import ConversationId
from tests.builders import talk
from tests.pages.apptest import by_key, keys, press, settled, words, written
from tests.pages.workspaces import open_page

HOSTILE = [
    "<script>alert(1)</script>",
    ":red[x] :material/delete: $x$ and $y$",
    "**bold** `code` [link](http://evil.example)",
    '100% "quoted" _under_ \\',
    "שלום עולם",
    "x" * 5000,
]


def library(**params: str) -> AppTest:
    return settled(open_page("library.py", **params))


def links(test: AppTest) -> list[tuple[str, dict[str, list[str]]]]:
    """What can be opened: label and query parameters."""
    return [(link.proto.label, parse_qs(link.proto.query_string)) for link in test.get("page_link")]


def opened(test: AppTest) -> list[str]:
    """Ids of the conversations listed, top to bottom."""
    return [params["c"][0] for _, params in links(test) if "c" in params]


def snippets(test: AppTest) -> list[str]:
    """The HTML of what a search found."""
    bodies = (str(element.proto.body) for element in test.get("html"))
    return [body for body in bodies if "found-snippet" in body]


def test_an_empty_library_says_what_to_do_next(forky: Forky) -> None:
    assert "No conversation yet" in words(library())


def test_the_list_leads_to_each_conversation_the_last_changed_first(forky: Forky) -> None:
    old = talk(forky.create("Old"), "a", "b")
    new = talk(forky.create("New"), "c")
    talk(old, "once more")
    test = library()
    assert opened(test) == [old.id, new.id]
    assert "3 messages · 1 branch" in words(test)


def test_sorting_by_title_changes_the_order(forky: Forky) -> None:
    b, a = forky.create("Banana"), forky.create("apple")
    test = library()
    by_key(test, "library.sort").select("title").run()
    assert opened(test) == [a.id, b.id]


def test_a_hundred_conversations_come_in_pages(forky: Forky) -> None:
    for number in range(60):
        forky.create(f"chat {number}")
    test = library()
    assert len(opened(test)) == 25
    first = opened(test)
    by_key(test, "library.page").set_value(3).run()
    assert len(opened(test)) == 10 and not set(first) & set(opened(test))


def test_deleting_says_what_was_done_and_undo_brings_it_back(forky: Forky) -> None:
    chat = talk(forky.create("Names"), "a")
    test = library()
    by_key(test, f"library.delete.{chat.id}").click().run()
    assert opened(test) == [] and "Moved “Names” to the trash" in words(test)
    by_key(test, "notice.undo").click().run()
    assert opened(test) == [chat.id]
    assert not forky.conversation(chat.id).view.trashed


def test_from_the_trash_it_is_taken_back_or_after_a_question_deleted_for_good(forky: Forky) -> None:
    kept, gone = talk(forky.create("Names"), "a"), talk(forky.create("Ports"), "b")
    for chat in (kept, gone):
        chat.trash()
    test = library()
    by_key(test, "library.tab").select("trash").run()
    press(test, f"trash.back.{kept.id}")
    assert [summary.id for summary in forky.conversations()] == [kept.id]
    press(test, f"trash.purge.{gone.id}")
    assert len(forky.conversations(trashed=True)) == 1
    press(test, "purge.yes")
    assert forky.conversations(trashed=True) == ()


def test_renaming_keeps_everything_but_the_title_which_cannot_be_empty(forky: Forky) -> None:
    chat = talk(forky.create("Names"), "a")
    test = press(library(), f"library.rename.{chat.id}")
    by_key(test, "rename.title").set_value("   ")
    press(test, "rename.save")
    assert "A conversation needs a title" in words(test) and chat.title == "Names"
    by_key(press(test, f"library.rename.{chat.id}"), "rename.title").set_value("Better names")
    press(test, "rename.save")
    assert (chat.title, len(chat.path())) == ("Better names", 1)


def test_a_new_conversation_has_the_title_model_and_prompt_it_was_given(forky: Forky) -> None:
    test = press(library(), "library.new")
    by_key(test, "new.title").set_value("Fresh")
    by_key(test, "new.model").select("offline/digest")
    by_key(test, "new.system").set_value("Be brief.")
    press(test, "new.create")
    chat = forky.conversation(forky.conversations()[0].id)
    rules = chat.rules.current
    assert (chat.title, rules.model, rules.system) == ("Fresh", "offline/digest", "Be brief.")


def test_a_search_finds_words_on_any_branch_and_links_to_the_message(forky: Forky) -> None:
    chat = talk(forky.create("Backups"), "trunk", "answer")
    side = talk(chat.fork("debug"), "the needle lies here")
    test = library()
    by_key(test, "library.search").set_value("needle").run()
    ((label, params),) = links(settled(test))
    head = side.branch.head
    assert head is not None
    assert params == {"c": [chat.id], "b": ["debug"], "m": [head.removeprefix("b2:")]}
    assert "you" in label and "debug" in label
    assert any("<mark>needle</mark>" in body for body in snippets(test))
    assert test.query_params["q"] in ("needle", ["needle"])


def test_a_link_with_a_search_shows_what_it_finds_but_not_in_the_trash(forky: Forky) -> None:
    chat = talk(forky.create("Backups"), "the needle lies here")
    assert len(links(library(q="needle"))) == 1
    assert "No message holds all of these words" in words(library(q="pin"))
    chat.trash()
    assert links(library(q="needle")) == []


def test_more_hits_are_shown_when_asked_for(forky: Forky) -> None:
    chat = forky.create("Backups")
    for number in range(70):
        chat.say(f"needle {number}", role="assistant" if number % 2 else "user")
    test = library(q="needle")
    assert len(links(test)) == 30
    by_key(test, "search.more").click().run()
    assert len(links(test)) == 60
    by_key(test, "search.more").click().run()
    assert len(links(test)) == 70 and "search.more" not in keys(test)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_titles_and_messages_are_text_wherever_they_are_listed(forky: Forky, text: str) -> None:
    chat = talk(forky.create(text), text)
    test = library()
    shown = [label for label, _ in links(test)] + [written(test)]
    by_key(test, f"library.delete.{chat.id}").click().run()
    shown.append(written(settled(test)))
    chat.take_back()
    test = library(q=text[:200])
    shown += [label for label, _ in links(settled(test))] + [written(test)]
    assert snippets(test)
    assert not [body for body in snippets(test) if "<script" in body]
    for piece in shown:
        assert "<script>" not in piece.replace("\\<", "") and ":red[" not in piece and "$x$" not in piece
        assert "](http" not in piece


@pytest.mark.parametrize(
    "query", ["%", '"', '""', "_", "\\", "'; DROP TABLE messages; --", "$x$", "x" * 1_000_000]
)
def test_a_search_for_anything_is_answered(forky: Forky, query: str) -> None:
    talk(forky.create("Backups"), "hay 100%", "a 'quoted' answer")
    settled(library(q=query))


def test_a_link_opened_in_a_new_tab_leads_to_the_chat(forky: Forky) -> None:
    chat = talk(forky.create("Backups"), "hello there")
    test = library(c=ConversationId(chat.id))
    assert "library.search" not in keys(test)
