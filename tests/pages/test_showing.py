"""The links that show a conversation to others, and the exports that a person can hand on."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.forky import Forky
from tests.builders import talk
from tests.pages.apptest import by_key, compare_act, open_app, settled
from tests.pages.workspaces import open_page


def address(test: AppTest, key: str) -> tuple[str, dict[str, list[str]]]:
    """The path of a link, and its query."""
    parts = urlsplit(by_key(settled(test), key).proto.url)
    return parts.path, parse_qs(parts.query)


def presenting(**at: str) -> AppTest:
    """The Chat page with the dialog that its menu opens."""
    test = open_page("chat.py", **at)
    by_key(test, "bar.menu").click("present").run()
    return test


def test_chat_presents_the_branch_at_the_message_one_is_at(forky: Forky) -> None:
    chat = talk(forky.create("Ports"), "Which?", "80.", "Sure?", "Yes.")
    side = talk(chat.fork("side, of mine"), "Why?")
    digits = chat.path()[1].id.removeprefix("b2:")
    path, query = address(presenting(c=chat.id, b="main", m=digits), "chat.present")
    assert path == f"/present/{chat.id}"
    assert query == {"b": ["main"], "m": [digits]}
    assert side.head is not None
    _, query = address(presenting(c=chat.id, b="side, of mine"), "chat.present")
    assert query == {"b": ["side, of mine"], "m": [side.head.id.removeprefix("b2:")]}


def test_an_empty_conversation_can_be_presented_too(forky: Forky) -> None:
    chat = forky.create("Empty")
    assert address(presenting(c=chat.id), "chat.present")[1] == {"b": ["main"]}


def test_compare_presents_what_it_compares(forky: Forky) -> None:
    chat = talk(forky.create("Ports"), "Which?", "80.")
    talk(chat.fork("side"), "Why?")
    test = open_page("compare.py", c=chat.id, b="main", **{"with": "main,side"})
    compare_act(test, "demo")
    assert address(test, "chat.present")[1]["with"] == ["main,side"]
    assert address(test, "chat.demo")[1] == {"b": ["main"], "with": ["main,side"], "demo": ["1"]}


def test_history_replays_the_conversation(forky: Forky) -> None:
    chat = talk(forky.create("Ports"), "Which?", "80.")
    assert address(open_page("history.py", c=chat.id), "history.replay") == (f"/present/{chat.id}/replay", {})


def test_a_note_is_a_line_of_the_history_and_says_where(forky: Forky) -> None:
    chat = talk(forky.create("Ports"), "Which?", "80.")
    chat.note(chat.path()[0].id, "Say who asked.")
    test = settled(open_page("history.py", c=chat.id))
    assert "Wrote the speaker's note" in test.expander[0].label
    assert any("Say who asked" in str(one.value).replace("\u2060", "") for one in test.markdown)


@pytest.mark.usefixtures("forky")
def test_every_page_has_the_theme_switch() -> None:
    test = settled(open_app())
    found = [one for one in test.main if "theme-switch-button" in str(getattr(one, "proto", ""))]
    found += [one for one in test.get("bidi_component") if "theme-switch-button" in one.proto.id]
    assert found
