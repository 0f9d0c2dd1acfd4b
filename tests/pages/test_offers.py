"""A clicked node and the menu of any message offer what can be done with it: a branch, bringing back, and the rest."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.merge.strategies import REGISTRY
from tests.builders import talk
from tests.first_sentences import FIRST_SENTENCES
from tests.pages.apptest import (
    act,
    by_key,
    click_graph,
    fill,
    keys,
    open_page,
    param,
    settled,
)
from tests.pages.apptest import html as html_pieces


def card(test: AppTest) -> str:
    """The HTML of the open card; "" where none is."""
    return next((str(one.proto.body) for one in test.get("html") if 'class="fk-card"' in one.proto.body), "")


def offered(body: str) -> list[str]:
    """The acts of a card's buttons."""
    return re.findall(r'data-act="([\w-]+)"', body)


def clicked(chat: Conversation, at: str) -> AppTest:
    """The Chat page when a row of its graph was clicked."""
    return settled(click_graph(open_page("chat.py", chat), at, "chat.graph"))


def test_a_clicked_node_offers_a_merge_and_plans_none(
    chat: Conversation,
) -> None:
    body = card(clicked(chat, chat.checkout("debug").path()[-1].id))
    assert "Bring “debug” back into “main”" in html.unescape(body)
    assert offered(body) == ["card", "fork", "merge", "more"]


def test_the_card_is_closed_and_no_other_place_shows_it(chat: Conversation) -> None:
    at, other = chat.checkout("debug").path()[-1].id, chat.path()[-1].id
    test = clicked(chat, at)
    assert card(test)
    assert not card(act(test, "card", ""))
    test = settled(click_graph(test, other, "chat.graph"))
    assert "“main” back into “debug”" in html.unescape(card(test))
    assert not card(act(test, "visit", at))


@pytest.mark.parametrize("place", [0, -1], ids=["which all branches share", "of main alone"])
def test_a_message_of_main_on_main_is_offered_no_branch_that_nobody_named(
    chat: Conversation, place: int
) -> None:
    """The menu leads to the Merge page, where the branch is chosen."""
    at = chat.path()[place].id
    body = html.unescape(card(clicked(chat, at)))
    assert "debug" not in body and "Start a branch here" in body
    assert offered(body) == ["card", "fork", "more"]
    asked = open_page("merge.py", chat, strategy="squash")
    assert by_key(asked, "merge.strategy").value == "squash" and "source" not in asked.query_params


def test_where_there_is_one_branch_only_a_fork_is_offered(forky: Forky) -> None:
    alone = forky.create("Alone")
    message = alone.say("Hello")
    test = clicked(alone, message.id)
    assert offered(card(test)) == ["card", "fork", "more"]


def test_a_message_that_was_offered_is_ticked_on_the_merge_page(chat: Conversation) -> None:
    at = chat.checkout("debug").path()[3].id
    test = open_page("merge.py", chat, source="debug", strategy="squash", picks=at.removeprefix("b2:")[:8])
    assert by_key(test, "merge.strategy").value == "squash"
    assert by_key(fill(test, merge__strategy="cherry-pick"), f"merge.pick.{at}").value is True


def test_a_message_s_menu_leads_to_bringing_its_branch_back_with_the_message_chosen(
    chat: Conversation,
) -> None:
    debug = chat.checkout("debug")
    at = debug.path()[3].id
    test = act(open_page("chat.py", debug), "merge", at)
    assert param(test, "b") == "main" and param(test, "source") == "debug"
    assert at.removeprefix("b2:").startswith(param(test, "picks"))


def test_a_menu_has_at_most_nine_lines_and_what_is_rare_is_one_step_further(chat: Conversation) -> None:
    menu = _acts(open_page("chat.py", chat))["menu"]
    first = [name for name, _, _, way, _ in menu if not way]
    assert len(first) <= 7, "a cell adds what it has no button of, and for a note Undo"
    assert {way for *_, way, _ in menu} - {""} == {name for name in first if name.startswith("ways-")}
    assert all(why.endswith(".") for *_, way, why in menu if way)


def _acts(test: AppTest) -> dict[str, Any]:
    (found,) = [item for item in test.get("bidi_component") if item.proto.component_name == "forky.acts"]
    said = json.loads(found.proto.json)
    assert isinstance(said, dict)
    return said


def test_a_strategy_that_a_package_adds_is_offered_everywhere(chat: Conversation) -> None:
    with REGISTRY.added(FIRST_SENTENCES):
        test = open_page("merge.py", chat, source="debug", strategy="first-sentences")
        radio = by_key(test, "merge.strategy")
        assert radio.value == "first-sentences" and any("First sentences" in label for label in radio.options)
        by_key(test, "merge.land").click()
        settled(test.run())
        page = open_page("chat.py", chat)
        (note,) = [body for body in html_pieces(page) if 'class="fk-merge"' in body]
        assert "Brought back from “debug”: 4 messages" in note and "<h3>First sentences</h3>" in note


def test_a_form_stays_while_others_write_below_its_message(forky: Forky) -> None:
    chat = talk(forky.create("Busy"), *(f"message number {at}" for at in range(40)))
    test = act(open_page("chat.py", chat), "tag", chat.path()[-3].id)
    for number in range(40):
        chat.say(f"What others wrote, {number}.", role="assistant" if number % 2 else "user")
        if number % 8 == 7:
            test = settled(test.run())
            assert "chat.form_name" in keys(test)
    by_key(test, "chat.form_name").set_value("of mine")
    settled(by_key(test, "chat.form_go").click().run())
    assert chat.view.tags["of mine"] == chat.path()[37].id


def test_a_form_opens_at_a_message_that_has_left_the_window_since_its_menu_was_opened(forky: Forky) -> None:
    chat = talk(forky.create("Busy"), *(f"message number {at}" for at in range(40)))
    message = chat.path()[-3].id
    test = open_page("chat.py", chat)
    talk(chat, *(f"What others wrote, {number}." for number in range(40)))
    test = act(settled(test.run()), "tag", message)
    assert "chat.form_name" in keys(test)
    assert f"{chat.id}" in str(test.query_params["c"]) and "m" not in test.query_params


@pytest.mark.parametrize("far", [False, True], ids=["on another branch", "far above"])
def test_a_form_that_a_row_of_the_graph_opens_leads_to_its_message(forky: Forky, far: bool) -> None:
    chat = talk(forky.create("Wide"), *(f"message number {at}" for at in range(200 if far else 4)))
    other = talk(chat.fork("other", at=chat.path()[1].id), "And else?", "Nothing.")
    message = chat.path()[1].id if far else other.path()[-1].id
    test = act(open_page("chat.py", chat), "tag", message)
    by_key(test, "chat.form_name").set_value("from there")
    settled(by_key(test, "chat.form_go").click().run())
    assert chat.view.tags["from there"] == message
