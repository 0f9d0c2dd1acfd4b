"""The versions beside the one that is looked at are sent ahead, as the page will draw them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.forky import Forky
from tests.builders import talk
from tests.pages.apptest import act, cells, open_page


@pytest.fixture
def chat(forky: Forky) -> Conversation:
    """On “main”, whose answer has another version on “other”."""
    made = talk(forky.create("Versions"), "Which?", "The first.", "And then?", "It ends.")
    talk(made.fork("other", at=made.path()[0].id), "The **second**.", "And now?", "It ends, too.")
    return made


def ahead(test: AppTest) -> dict[str, list[Any]]:
    """By the message that an arrow leads to: the trees of the cells that are sent ahead."""
    found = [one for one in test.get("bidi_component") if one.proto.component_name == "forky.ahead"]
    return {
        id: [json.loads(tree) for _, tree in window]
        for one in found
        for id, window in json.loads(one.proto.json)
    }


def test_what_is_sent_ahead_is_what_the_page_draws_when_it_is_chosen(chat: Conversation) -> None:
    page = open_page("chat.py", chat)
    (other,) = chat.visible.siblings(chat.path()[1].id)[1:]
    sent = ahead(page)
    assert list(sent) == [other]
    there = act(page, "sibling", other)
    assert there.query_params["b"] == "other"
    assert cells(there) == sent[other] and len(cells(there)) == 4
    assert list(ahead(there)) == [chat.path()[1].id]


def test_picks_and_marks_are_in_what_is_sent_ahead(chat: Conversation) -> None:
    page = act(open_page("chat.py", chat), "pick", chat.path()[0].id)
    ((head, *_), *_) = (tree[2:] for (tree, *_) in ahead(page).values())
    assert "true" in json.dumps(head)


def test_a_version_that_only_streamlit_draws_is_not_sent_ahead(chat: Conversation) -> None:
    talk(chat.checkout("other"), "All of it?", "x" * 20_001)
    assert ahead(open_page("chat.py", chat)) == {}


def test_a_path_without_versions_sends_nothing_ahead(forky: Forky) -> None:
    chat = talk(forky.create("Plain"), "One?", "One.")
    assert ahead(open_page("chat.py", chat)) == {}


def test_at_most_a_few_versions_are_sent_ahead(chat: Conversation) -> None:
    at = chat.path()[2].id
    for number in range(3):
        talk(chat.fork(f"more-{number}", at=chat.path()[0].id), f"Version {number}.")
        talk(chat.fork(f"later-{number}", at=at), f"Later {number}.")
    assert len(ahead(open_page("chat.py", chat))) == 4
