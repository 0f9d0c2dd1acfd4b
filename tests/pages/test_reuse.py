"""A stored answer that is given again says so on its cell, offers a fresh one, and is counted in Settings."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from forky_core.forky import Forky
from tests.pages.apptest import by_key, html, open_page, settled, words
from tests.pages.workspaces import open_page as open_file


def shown(test: AppTest) -> str:
    return "".join(html(test))


def test_an_answer_that_is_given_again_says_so_and_offers_a_fresh_one(forky: Forky) -> None:
    chat = forky.create("Names")
    fork = chat.fork("fork")
    chat.ask("What is a branch?", reuse=True)
    assert "given again" not in shown(open_page("chat.py", chat))
    fork.ask("What is a branch?", reuse=True)
    cells = shown(open_page("chat.py", fork))
    assert "A stored answer, given again. It saved " in cells
    assert "Ask anew" in cells
    counted = words(settled(open_file("settings.py")))
    assert "Of 2 calls that could be answered from the store 1 was, which saved" in counted


def test_the_menu_of_a_branch_says_what_it_would_change(forky: Forky) -> None:
    chat = forky.create("Names")
    chat.ask("What is a branch?")
    options = by_key(open_page("chat.py", chat), "bar.menu").proto.options
    assert "Give stored answers again" in options
    assert "Always ask anew" not in options
    chat.calls.set_reuse(True)
    options = by_key(open_page("chat.py", chat), "bar.menu").proto.options
    assert "Always ask anew" in options
