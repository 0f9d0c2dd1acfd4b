"""A clicked node and the menu of any message offer what can be done with it: fork, or merge by name, at which cost."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from forky_core.merge.strategies import REGISTRY, STRATEGIES
from pages.ui.chat import offers
from pages.ui.chat.offers import ACT
from tests.builders import talk
from tests.first_sentences import FIRST_SENTENCES
from tests.hangs import HANG
from tests.pages.apptest import (
    act,
    ask_costs,
    by_key,
    click_graph,
    fill,
    keys,
    open_page,
    settled,
    told_costs,
)
from tests.pages.apptest import html as html_pieces

ACTS = [f"{ACT}{one.name}" for one in STRATEGIES]


def card(test: AppTest) -> str:
    """The HTML of the open card; "" where none is."""
    return next((str(one.proto.body) for one in test.get("html") if 'class="fk-card"' in one.proto.body), "")


def offered(body: str) -> list[str]:
    """The acts of a card's buttons."""
    return re.findall(r'data-act="([\w-]+)"', body)


def clicked(chat: Conversation, at: str) -> AppTest:
    """The Chat page when a row of its graph was clicked."""
    return settled(click_graph(open_page("chat.py", chat), at, "chat.graph"))


def planned(test: AppTest, at: str) -> Any:
    """What the menu of this message is told in the end: the message, a heading, and the costs by act."""
    for _ in range(int(HANG) * 10):
        if (said := told_costs(test := ask_costs(test, at))) is not None:
            return said
    raise AssertionError("The costs never came.")


def test_a_clicked_node_offers_a_merge_and_plans_none(
    chat: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offers, "costs_of", lambda *_: pytest.fail("A plan was made."))
    body = card(clicked(chat, chat.checkout("debug").path()[-1].id))
    assert "Bring “debug” back into “main”" in html.unescape(body)
    assert offered(body) == ["card", "fork", "merge-squash", "more"]


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
    assert planned(open_page("chat.py", chat), at) == [at, "Bring a branch back into “main”", {}]
    asked = open_page("merge.py", chat, strategy="squash")
    assert by_key(asked, "merge.strategy").value == "squash" and "source" not in asked.query_params


def test_a_merge_that_brings_nothing_is_offered_as_that(chat: Conversation) -> None:
    chat.merge(chat.plan_merge("debug", strategy="full"))
    at = chat.checkout("debug").path()[-1].id
    _, _, costs = planned(clicked(chat, at), at)
    assert costs == dict.fromkeys(ACTS, "nothing new")


def test_a_merge_into_a_long_branch_is_offered_without_being_planned(
    chat: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offers, "_LONGEST", 3)
    side = chat.checkout("debug")
    at, alone = side.path()[-1].id, set(chat.path()) - set(side.path())
    for number in range(4 - len(alone)):
        chat.say(f"More on the main branch: {number}.")
    _, _, costs = planned(clicked(chat, at), at)
    assert costs == {}


def test_where_there_is_one_branch_only_a_fork_is_offered(forky: Forky) -> None:
    alone = forky.create("Alone")
    message = alone.say("Hello")
    test = clicked(alone, message.id)
    assert offered(card(test)) == ["card", "fork", "more"]
    assert _acts(test)["merges"] == []


def test_a_message_that_was_offered_is_ticked_on_the_merge_page(chat: Conversation) -> None:
    at = chat.checkout("debug").path()[3].id
    test = open_page("merge.py", chat, source="debug", strategy="squash", picks=at.removeprefix("b2:")[:8])
    assert by_key(test, "merge.strategy").value == "squash"
    assert by_key(fill(test, merge__strategy="cherry-pick"), f"merge.pick.{at}").value is True


def test_the_menu_is_told_what_its_merges_cost_when_it_asks(chat: Conversation) -> None:
    debug = chat.checkout("debug")
    test = open_page("chat.py", debug)
    assert {entry[0] for entry in _acts(test)["merges"]} == set(ACTS) and told_costs(test) is None
    at = debug.path()[-1].id
    of, heading, costs = planned(test, at)
    assert of == at and heading == "Bring “debug” back into “main”"
    plans = {
        one.name: chat.plan_merge("debug", strategy=one.name, picks=[at] if one.takes_picks else ())
        for one in STRATEGIES
    }
    assert costs == {f"{ACT}{name}": f"{plan.tokens:,} tokens" for name, plan in plans.items()}
    assert told_costs(settled(test.run())) is None, "a run for something else plans no merge"
    assert told_costs(ask_costs(test, "b2:nowhere")) is None


def _acts(test: AppTest) -> dict[str, Any]:
    (found,) = [item for item in test.get("bidi_component") if item.proto.component_name == "forky.acts"]
    said = json.loads(found.proto.json)
    assert isinstance(said, dict)
    return said


def test_a_strategy_that_a_package_adds_is_offered_everywhere(chat: Conversation) -> None:
    at = chat.checkout("debug").path()[-1].id
    with REGISTRY.added(FIRST_SENTENCES):
        test = clicked(chat, at)
        _, _, costs = planned(test, at)
        assert "token" in costs["merge-first-sentences"]
        assert "merge-first-sentences" in {entry[0] for entry in _acts(test)["merges"]}
        test = open_page("merge.py", chat, source="debug", strategy="first-sentences")
        radio = by_key(test, "merge.strategy")
        assert radio.value == "first-sentences" and any("First sentences" in label for label in radio.options)
        by_key(test, "merge.land").click()
        settled(test.run())
        page = open_page("chat.py", chat)
        (note,) = [body for body in html_pieces(page) if 'class="fk-merge"' in body]
        assert "Brought back from “debug”: 4 messages" in note and "<h4>First sentences</h4>" in note


def test_a_form_stays_while_others_write_below_its_message(forky: Forky) -> None:
    chat = talk(forky.create("Busy"), *(f"message number {at}" for at in range(40)))
    test = act(open_page("chat.py", chat), "fork", chat.path()[-3].id)
    for number in range(40):
        chat.say(f"What others wrote, {number}.", role="assistant" if number % 2 else "user")
        if number % 8 == 7:
            test = settled(test.run())
            assert "chat.form_name" in keys(test)
    by_key(test, "chat.form_name").set_value("of mine")
    settled(by_key(test, "chat.form_go").click().run())
    assert chat.branches["of mine"].head == chat.path()[37].id


def test_a_form_opens_at_a_message_that_has_left_the_window_since_its_menu_was_opened(forky: Forky) -> None:
    chat = talk(forky.create("Busy"), *(f"message number {at}" for at in range(40)))
    message = chat.path()[-3].id
    test = open_page("chat.py", chat)
    talk(chat, *(f"What others wrote, {number}." for number in range(40)))
    test = act(settled(test.run()), "fork", message)
    assert "chat.form_name" in keys(test)
    assert f"{chat.id}" in str(test.query_params["c"]) and "m" not in test.query_params


@pytest.mark.parametrize("far", [False, True], ids=["on another branch", "far above"])
def test_a_form_that_a_row_of_the_graph_opens_leads_to_its_message(forky: Forky, far: bool) -> None:
    chat = talk(forky.create("Wide"), *(f"message number {at}" for at in range(200 if far else 4)))
    other = talk(chat.fork("other", at=chat.path()[1].id), "And else?", "Nothing.")
    message = chat.path()[1].id if far else other.path()[-1].id
    test = act(open_page("chat.py", chat), "fork", message)
    by_key(test, "chat.form_name").set_value("from there")
    settled(by_key(test, "chat.form_go").click().run())
    assert chat.branches["from there"].head == message
