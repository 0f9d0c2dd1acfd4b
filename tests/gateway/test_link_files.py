"""A fork goes by a link to another workspace and comes home by it, through a real server and the command."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from forky_core.conversation.workspace import Workspace
from forky_core.formats.forky_file.adopting import fork_file, pull
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.writing import chat_of
from forky_core.gateway.link_files import LinkFileAt
from forky_core.llm.addresses import AddressRefused
from forky_core.model.errors import BadContent
from forky_core.people.links.content import part_of_link
from forky_core.people.links.fetching import fetched, give_back_to
from forky_core.people.links.link import Link, NewLink
from forky_core.people.links.links import Links
from tests.builders import talk, texts
from tests.formats.forky_file.test_giving_back import somebody
from tests.formats.reports.links import link_to
from tests.gateway.served import listening
from tests.hangs import HANG


def link_files(forky: Workspace) -> Starlette:
    """An app with the files of this workspace's links."""
    links = Links(forky.store)

    def opened(secret: str) -> tuple[Link, Chat]:
        link = links.find(secret)
        return link, part_of_link(forky, link)

    endpoint = LinkFileAt(opened, lambda _person: forky, links.count)
    return Starlette(routes=[Route("/s/{secret}/file", endpoint, methods=["GET", "POST"])])


class Served:
    """A server with the files of links."""

    def __init__(self, forky: Workspace, url: str) -> None:
        self.forky, self.url = forky, url

    def address(self, new: NewLink) -> str:
        return f"{self.url}/s/{new.secret}"


@pytest.fixture
def served() -> Iterator[Served]:
    forky = somebody("ana")
    with listening(link_files(forky)) as url:
        yield Served(forky, url)


def test_a_fork_goes_by_a_link_and_comes_home_by_it(served: Served) -> None:
    chat = talk(served.forky.create("Ports"), "Which port?", "Port 80.")
    address = served.address(link_to(served.forky, chat, live=True, returns=True))
    ben = somebody("ben")
    fork = ben.conversation(fork_file(ben, fetched(address), through="a link").conversation, "main")
    assert [one.id for one in fork.path()] == [one.id for one in chat.path()]
    talk(fork, "Encrypted?", "Decision: port 443.")
    talk(chat, "Meanwhile?", "Decision: port 8080.")
    assert pull(ben, fork.id, fetched(address)).outcome == "grown"
    assert texts(fork.checkout("origin/main"))[-1] == "Decision: port 8080."
    done = give_back_to(address, chat_of(ben.store, fork.id))
    assert (done.messages, done.requests) == (2, (1,))
    (request,) = chat.requests.all
    assert "by the link" in request.note and texts(chat.checkout(request.source))[-1] == "Decision: port 443."
    assert "ben" in {one.actor for one in served.forky.store.operations(chat.id)}
    assert give_back_to(address, chat_of(ben.store, fork.id)).requests == ()
    assert served.forky.verify().clean and ben.verify().clean


def test_a_fork_of_a_link_that_replaced_something_comes_home_as_a_merge_of_what_came_after(
    served: Served,
) -> None:
    chat = talk(served.forky.create("Mail"), "I am ada@example.com", "Noted.")
    address = served.address(link_to(served.forky, chat, returns=True))
    ben = somebody("ben")
    fork = ben.conversation(fork_file(ben, fetched(address)).conversation, "main")
    assert "ada@" not in str(texts(fork))
    talk(fork, "And then?", "Decision: port 443.")
    done = give_back_to(address, chat_of(ben.store, fork.id))
    assert done.requests == (1,)
    plan = chat.requests.plan(1)
    assert "443" in plan.payload and "[e-mail 1]" not in plan.payload


def test_a_link_that_is_over_or_takes_nothing_back_says_so_and_the_file_still_works(served: Served) -> None:
    chat = talk(served.forky.create("Ports"), "Which port?", "Port 80.")
    new = link_to(served.forky, chat)
    address = served.address(new)
    ben = somebody("ben")
    fork = talk(ben.conversation(fork_file(ben, fetched(address)).conversation, "main"), "More?", "Yes.")
    value = chat_of(ben.store, fork.id)
    with pytest.raises(BadContent, match="nothing is given back"):
        give_back_to(address, value)
    Links(served.forky.store).revoke(new.link.id)
    for asked in (lambda: fetched(address), lambda: give_back_to(address, value)):
        with pytest.raises(BadContent, match="revoked"):
            asked()
    assert pull(served.forky, chat.id, value).requests == (1,)


def test_what_is_no_fork_of_it_is_refused_and_nothing_is_written(served: Served) -> None:
    chat = talk(served.forky.create("Ports"), "Which port?", "Port 80.")
    new = link_to(served.forky, chat, returns=True)
    address = f"{served.address(new)}/file"
    version = chat.view.version
    ben = somebody("ben")
    stranger = talk(ben.create("Else"), "Hello?", "Hello.")
    with pytest.raises(BadContent, match="no fork"):
        give_back_to(address, chat_of(ben.store, stranger.id))
    for body in (b"", b"{", json.dumps({"type": "session"}).encode(), b"\xff\xfe"):
        assert httpx.post(address, content=body, timeout=HANG).status_code == 422
    assert httpx.put(address, timeout=HANG).status_code == 405
    assert httpx.get(f"{served.url}/s/{'x' * 22}/file", timeout=HANG).status_code == 404
    assert httpx.post(address, content=b" " * 20_000_001, timeout=HANG).status_code == 413
    chat.trash()
    assert httpx.get(address, timeout=HANG).status_code == 410
    assert chat.view.version == version + 1


@pytest.mark.parametrize("address", ["http://169.254.169.254/s/x", "http://metadata.google.internal/s/x"])
def test_addresses_that_nobody_may_ask_are_not_asked(address: str) -> None:
    with pytest.raises(AddressRefused):
        fetched(address)
