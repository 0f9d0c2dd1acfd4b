"""Where nothing has been said: ways to begin that do something, and the line about the ready conversation."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.forky import Forky
from forky_core.welcome import make_welcome, ready_id
from pages.ui.chat.starters import QUESTIONS
from tests.builders import talk
from tests.pages.apptest import by_key, keys, press
from tests.pages.workspaces import open_page

WAYS = {f"starters.{way}" for way in ("ask.0", "ask.1", "ask.2", "import", "example", "experiment", "tour")}


def chat_page(**query: str) -> AppTest:
    test = open_page("chat.py", **query)
    assert [error.value for error in test.exception] == []
    return test


def test_without_a_conversation_there_are_a_bar_and_ways_to_begin(forky: Forky) -> None:
    shown = set(keys(chat_page()))
    assert shown >= WAYS | {"chat.first", "bar.undo", "bar.redo"}
    assert by_key(chat_page(), "bar.undo").disabled


def test_an_empty_conversation_has_the_same_ways(forky: Forky) -> None:
    chat = forky.create("Empty")
    shown = set(keys(chat_page(c=chat.id)))
    assert shown >= WAYS
    assert "chat.first" not in shown


def test_a_conversation_in_the_trash_has_none(forky: Forky) -> None:
    chat = forky.create("Empty")
    chat.trash()
    assert WAYS.isdisjoint(keys(chat_page(c=chat.id)))


@pytest.mark.parametrize("begun", [False, True])
def test_a_question_is_asked_at_a_press(forky: Forky, begun: bool) -> None:
    before = forky.create("Empty") if begun else None
    press(chat_page(**({"c": before.id} if before is not None else {})), "starters.ask.1")
    (summary,) = forky.conversations()
    assert before is None or summary.id == before.id
    chat = forky.conversation(summary.id)
    job = chat.replies.current
    if job is not None:
        job.wait()
    question, answer = chat.path()
    assert question.text == QUESTIONS[1]
    assert answer.role == "assistant"


def test_the_example_opens_and_is_made_where_it_is_gone(forky: Forky) -> None:
    empty = forky.create("Empty")
    test = press(chat_page(c=empty.id), "starters.example")
    made = ready_id(forky)
    assert made is not None
    assert test.query_params["c"] == made
    press(chat_page(c=empty.id), "starters.example")
    assert ready_id(forky) == made


def test_the_example_says_what_it_is_and_what_there_is_to_see(forky: Forky) -> None:
    chat = make_welcome(forky)
    test = chat_page(c=chat.id, b="main")
    assert {"ready.tour", "ready.close"} <= set(keys(test))
    press(test, "ready.close")
    assert "ready.tour" not in keys(test)


def test_no_other_conversation_says_so(forky: Forky) -> None:
    make_welcome(forky)
    chat = talk(forky.create("Names"), "a", "b")
    assert "ready.tour" not in keys(chat_page(c=chat.id))


def test_the_tour_leads_to_the_ready_conversation_from_anywhere(forky: Forky) -> None:
    empty = forky.create("Empty")
    test = press(chat_page(c=empty.id), "starters.tour")
    assert test.query_params["c"] == ready_id(forky)
    assert test.query_params["b"] == "main"
    assert empty.view.version == 1
