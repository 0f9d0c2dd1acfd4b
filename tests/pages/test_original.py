"""A fork and its original on the pages: its address is pasted, it says where it begins, gives back and fetches news."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.forky import Forky
from forky_core.formats.forky_file.adopting import fork_file
from forky_core.formats.forky_file.writing import chat_of
from forky_core.people.links.link import NewLink
from forky_core.people.links.links import Links
from forky_core.people.links.original import take_from_link
from tests.builders import talk, texts
from tests.formats.forky_file.test_giving_back import somebody
from tests.formats.reports.links import link_to
from tests.gateway.served import listening
from tests.gateway.test_link_files import link_files
from tests.hangs import HANG
from tests.pages.apptest import by_key, html, latest, open_page, press, settled, words
from tests.pages.test_files import import_tab


@pytest.fixture
def ana() -> Workspace:
    return somebody("ana")


@pytest.fixture
def original(ana: Workspace) -> Conversation:
    return talk(ana.create("Ports"), "Which port?", "Port 80.")


@pytest.fixture
def link(ana: Workspace, original: Conversation) -> NewLink:
    return link_to(ana, original, live=True, returns=True)


@pytest.fixture
def address(ana: Workspace, link: NewLink) -> Iterator[str]:
    with listening(link_files(ana)) as url:
        yield f"{url}/s/{link.secret}"


def dialog(chat: Conversation) -> AppTest:
    test = AppTest.from_file(str(Path(__file__).with_name("original_dialog.py")), default_timeout=HANG)
    test.query_params["c"] = chat.id
    return settled(test.run())


def pasted(address: str) -> AppTest:
    test = import_tab()
    latest(test, "import.paste").set_value(f" {address}\n")
    return settled(by_key(test, "import.pasted").click().run())


def test_the_address_of_a_link_becomes_a_conversation_of_ones_own_and_again_brings_news(
    forky: Forky, original: Conversation, address: str
) -> None:
    assert "2 messages came." in words(pasted(address))
    (mine,) = forky.conversations()
    fork = forky.conversation(mine.id)
    assert [one.id for one in fork.path()] == [one.id for one in original.path()]
    assert "Nothing is new there" in words(pasted(address))
    talk(original, "And TLS?")
    assert "1 message came." in words(pasted(address))
    assert texts(fork.checkout("main"))[-1] == "And TLS?" and len(forky.conversations()) == 1


def test_an_address_that_cannot_be_read_is_said_and_nothing_comes(
    ana: Workspace, forky: Forky, link: NewLink, address: str
) -> None:
    Links(ana.store).revoke(link.link.id)
    assert "revoked" in words(pasted(address))
    assert "are refused" in words(pasted("http://169.254.169.254/s/0123456789abcdef"))
    assert not forky.conversations()


def test_a_fork_says_where_its_own_messages_begin(forky: Forky, address: str) -> None:
    fork = forky.conversation(take_from_link(forky, address).conversation, "main")

    def lines() -> list[str]:
        return [one for one in html(settled(open_page("chat.py", fork))) if "Forked just now from" in one]

    assert not lines(), "nothing is its own yet"
    talk(fork, "And TLS?", "Port 443.")
    (line,) = lines()
    assert "“Ports”" in line and 'data-act="original"' in line


def test_giving_back_and_fetching_news_are_pressed_there(
    forky: Forky, original: Conversation, address: str
) -> None:
    fork = forky.conversation(take_from_link(forky, address).conversation, "main")
    talk(fork, "And TLS?", "Port 443.")
    test = press(dialog(fork), "origin.back")
    assert "2 messages given back: merge request 1 there." in words(test)
    assert len(original.requests.all) == 1
    assert "Nothing is new in it." in words(press(test, "origin.back"))
    talk(original, "Meanwhile?")
    assert "1 message came." in words(press(test, "origin.news"))
    assert texts(fork.checkout("origin/main"))[-1] == "Meanwhile?"
    assert "Nothing is new there." in words(press(test, "origin.news"))


def test_a_link_that_is_over_is_said_in_the_dialog_and_another_address_is_taken(
    ana: Workspace, forky: Forky, original: Conversation, link: NewLink, address: str
) -> None:
    fork = forky.conversation(take_from_link(forky, address).conversation, "main")
    talk(fork, "And TLS?")
    Links(ana.store).revoke(link.link.id)
    test = dialog(fork)
    assert "revoked" in words(press(test, "origin.back")) and not original.requests.all
    new = link_to(ana, original, live=True, returns=True)
    by_key(test, "origin.address").set_value(f"{address.rpartition('/')[0]}/{new.secret}").run()
    assert "merge request 1 there" in words(press(test, "origin.back"))


def test_where_the_original_is_here_it_is_named_and_no_address_is_asked_for(forky: Forky) -> None:
    chat = talk(forky.create("Ports"), "Which port?", "Port 80.")
    fork = forky.conversation(fork_file(forky, chat_of(forky.store, chat.id)).conversation, "main")
    talk(fork, "And TLS?")
    test = dialog(fork)
    assert not [one for one in test.text_input if one.key == "origin.address"]
    assert "1 message given back: merge request 1 there." in words(press(test, "origin.back"))
    assert len(chat.requests.all) == 1
