"""The list of chats beside every page: pins, days, what is new, and the way to each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.identity import now
from forky_core.conversation.pins import PINNED, pin, pinned
from forky_core.forky import Forky
from forky_core.model.errors import NotAllowed
from forky_core.model.operation import Change
from forky_core.people.members import Member
from forky_core.store.contract import Commit
from pages.ui.registry import pages
from tests.builders import talk
from tests.pages.apptest import ask_sidebar, by_key, open_app, settled, sidebar
from tests.pages.teams import TeamServer
from tests.pages.workspaces import empty_workspace, open_page


@pytest.fixture
def forky(monkeypatch: pytest.MonkeyPatch) -> Iterator[Forky]:
    with empty_workspace(monkeypatch) as opened:
        yield opened


def titles(test: AppTest) -> dict[str, list[str]]:
    """The titles by the headings above them."""
    *_, days = sidebar(settled(test))
    return {name: [line[2] for line in lines] for name, lines, _ in days}


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
    _, _, more, _, days = sidebar(test)
    assert more and sum(len(lines) for _, lines, _ in days) == 60
    ask_sidebar(test, more=1)
    test = ask_sidebar(test, more=1)
    _, _, more, _, days = sidebar(settled(test))
    assert not more and sum(len(lines) for _, lines, _ in days) == 130


def test_a_folder_stands_below_the_pins_and_its_chats_not_among_the_days(forky: Forky) -> None:
    chats = [talk(forky.create(name), "hello") for name in ("Loose", "Filed", "Kept")]
    for chat in chats[1:]:
        chat.put_into("Sea")
    pin(forky.store, chats[2].id)
    test = settled(open_app())
    assert titles(test) == {"Pinned": ["Kept"], "Sea": ["Filed"], "Today": ["Loose"]}
    assert [name for name, _, is_folder in sidebar(test)[-1] if is_folder] == ["Sea"]


def test_the_menu_puts_a_chat_into_a_folder(forky: Forky) -> None:
    talk(forky.create("Elsewhere"), "hello").put_into("Sea")
    chat = talk(forky.create("Here"), "hello")
    by_key(test := open_page("chat.py", c=chat.id), "bar.menu").click("folder").run()
    test.selectbox(key="folder.name").select("Sea")
    test = settled(test.button(key="folder.go").click().run())
    assert titles(test) == {"Sea": ["Here", "Elsewhere"]}
    assert forky.conversation(chat.id).view.folder == "Sea"


def test_what_programs_began_is_listed_apart_and_opened_by_nobody_unasked(forky: Forky) -> None:
    mine, theirs = (talk(forky.create(name), "hello") for name in ("Mine", "Theirs"))
    test = settled(open_app())
    assert sidebar(test)[3] == "", "there is nothing to choose between"
    forky.store.commit(
        Commit(theirs.id, "record", "Recorded", (Change("program", None, "laptop (aider)"),), at=now())
    )
    test = settled(open_app())
    assert (sidebar(test)[0], sidebar(test)[3], titles(test)) == (mine.id, "mine", {"Today": ["Mine"]})
    test = settled(ask_sidebar(test, whose="programs"))
    assert (sidebar(test)[3], titles(test)) == ("programs", {"Today": ["Theirs"]})
    pin(forky.store, theirs.id)
    assert titles(ask_sidebar(test, whose="mine")) == {"Pinned": ["Theirs"], "Today": ["Mine"]}


@pytest.mark.parametrize("page", ["chat.py", "library.py", "settings.py"])
def test_a_press_opens_one_on_the_chat_page(forky: Forky, page: str) -> None:
    there = talk(forky.create("There"), "hello")
    talk(forky.create("Here"), "hello")
    test = ask_sidebar(open_page(page), open=there.id)
    assert sidebar(settled(test))[0] == there.id
    assert there.id in test.query_params["c"]


@pytest.mark.parametrize(
    "asked", [{"open": "nowhere"}, {"pin": "nowhere", "on": True}, {"what": 3}, {"open": 3}, {"whose": "x"}]
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
