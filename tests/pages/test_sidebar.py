"""The list of chats beside every page: pins, days, what is new, and the way to each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.pins import PINNED, pin, pinned
from forky_core.forky import Forky
from forky_core.model.errors import NotAllowed
from forky_core.people.members import Member
from pages.ui.registry import pages
from tests.builders import talk
from tests.pages.apptest import ask_sidebar, open_app, settled, sidebar
from tests.pages.teams import TeamServer
from tests.pages.workspaces import empty_workspace, open_page


@pytest.fixture
def forky(monkeypatch: pytest.MonkeyPatch) -> Iterator[Forky]:
    with empty_workspace(monkeypatch) as opened:
        yield opened


def titles(test: AppTest) -> dict[str, list[str]]:
    """The titles by the headings above them."""
    *_, days = sidebar(settled(test))
    return {name: [line[2] for line in lines] for name, lines in days}


def test_every_page_lists_them_newest_first_and_marks_the_one_it_shows(forky: Forky) -> None:
    older, newer = (talk(forky.create(name), "hello") for name in ("Older", "Newer"))
    for page in pages():
        if page.found and not page.of_team:
            test = open_page(str(page.script), c=older.id)
            assert titles(test) == {"Today": ["Newer", "Older"]}
            assert sidebar(test)[0] == older.id
    assert sidebar(open_app())[0] == newer.id


def test_a_pinned_one_stays_at_the_top_until_it_is_unpinned(forky: Forky) -> None:
    first = talk(forky.create("First"), "hello")
    talk(forky.create("Second"), "hello")
    test = ask_sidebar(open_app(), pin=first.id, on=True)
    assert titles(test) == {"Pinned": ["First"], "Today": ["Second"]}
    assert titles(open_app()) == titles(test), "it outlives the tab"
    assert titles(ask_sidebar(test, pin=first.id, on=False)) == {"Today": ["Second", "First"]}


def test_two_thousand_are_listed_in_pieces(forky: Forky) -> None:
    for number in range(130):
        talk(forky.create(f"Chat {number}"), "hello")
    test = open_app()
    _, _, more, days = sidebar(test)
    assert more and sum(len(lines) for _, lines in days) == 60
    ask_sidebar(test, more=1)
    test = ask_sidebar(test, more=1)
    _, _, more, days = sidebar(settled(test))
    assert not more and sum(len(lines) for _, lines in days) == 130


@pytest.mark.parametrize("page", ["chat.py", "library.py", "settings.py"])
def test_a_press_opens_one_on_the_chat_page(forky: Forky, page: str) -> None:
    there = talk(forky.create("There"), "hello")
    talk(forky.create("Here"), "hello")
    test = ask_sidebar(open_page(page), open=there.id)
    assert sidebar(settled(test))[0] == there.id
    assert there.id in test.query_params["c"]


@pytest.mark.parametrize(
    "asked", [{"open": "nowhere"}, {"pin": "nowhere", "on": True}, {"what": 3}, {"open": 3}]
)
def test_what_no_list_asks_for_changes_nothing(forky: Forky, asked: dict[str, Any]) -> None:
    chat = talk(forky.create("Here"), "hello")
    test = ask_sidebar(open_app(), **asked)
    assert sidebar(settled(test))[0] == chat.id and not pinned(forky.store)


def test_pins_are_each_persons_own(server: TeamServer, ada: Member, ben: Member) -> None:
    mine = server.seen_by(ada)
    chat = talk(mine.create("Boats"), "hello")
    pin(mine.store, chat.id, ada.id)
    assert pinned(mine.store, ada.id) == {chat.id}
    theirs = server.seen_by(ben).store
    assert theirs.setting(PINNED + ada.id) is None
    with pytest.raises(NotAllowed):
        pin(theirs, chat.id, ada.id, on=False)
    assert pinned(mine.store, ada.id) == {chat.id}
