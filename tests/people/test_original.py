"""A fork and its original: news come and what was added goes back, by the link or within one workspace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.formats.forky_file.adopting import fork_file
from forky_core.formats.forky_file.writing import chat_of, written
from forky_core.llm.addresses import AddressRefused
from forky_core.model.errors import BadContent, NotAllowed
from forky_core.people.links.forking import fork_part
from forky_core.people.links.links import Links
from forky_core.people.links.original import address_of, fetch_news, original_here, send_back, take_from_link
from forky_core.people.needed_roles import EDITORS_DERIVED
from forky_core.people.roles import Role
from forky_core.people.token_scopes import SCOPES
from forky_core.people.token_store import TokenRights, token_view
from tests.builders import talk, texts
from tests.formats.forky_file.test_giving_back import somebody
from tests.formats.reports.links import link_to
from tests.gateway.served import listening
from tests.gateway.test_link_files import Served, link_files
from tests.people.people import office


@pytest.fixture
def served() -> Iterator[Served]:
    forky = somebody("ana")
    with listening(link_files(forky)) as url:
        yield Served(forky, url)


def shared(served: Served, *turns: str) -> tuple[Conversation, str, str]:
    """A conversation, the address of a live link to it that takes forks back, and the link's id."""
    chat = talk(served.forky.create("Ports"), *(turns or ("Which port?", "Port 80.")))
    new = link_to(served.forky, chat, live=True, returns=True)
    return chat, served.address(new), new.link.id


def taken(forky: Workspace, address: str) -> Conversation:
    return forky.conversation(take_from_link(forky, address).conversation, "main")


def test_a_fork_knows_the_way_to_its_original_without_being_told_again(served: Served) -> None:
    chat, address, _ = shared(served)
    ben = somebody("ben")
    fork = talk(taken(ben, address), "Encrypted?")
    assert send_back(ben, fork.id).sentence == "1 message given back: merge request 1 there."
    assert send_back(ben, fork.id).sentence == "Nothing is new in it.", "given back twice is once"
    talk(chat.checkout("main"), "Meanwhile?")
    assert fetch_news(ben, fork.id).messages == 1
    assert texts(fork.checkout("origin/main"))[-1] == "Meanwhile?"
    assert fetch_news(ben, fork.id).outcome == "unchanged"
    assert take_from_link(ben, address).outcome == "unchanged" and len(ben.conversations()) == 1
    assert len(chat.requests.all) == 1 and ben.verify().clean and served.forky.verify().clean


def test_the_address_which_opens_the_original_is_in_no_file_of_the_fork(served: Served) -> None:
    _, address, _ = shared(served)
    ben = somebody("ben")
    fork = taken(ben, address)
    secret = address.rpartition("/")[2]
    assert address_of(ben, fork.id) == address
    assert secret not in "".join(written(chat_of(ben.store, fork.id)))


def test_a_link_that_is_over_while_the_fork_is_worked_on_is_said_and_a_new_one_takes_it(
    served: Served,
) -> None:
    chat, address, id = shared(served)
    ben = somebody("ben")
    fork = talk(taken(ben, address), "Encrypted?")
    Links(served.forky.store).revoke(id)
    version = fork.view.version
    for asked in (lambda: send_back(ben, fork.id), lambda: fetch_news(ben, fork.id)):
        with pytest.raises(BadContent, match="revoked"):
            asked()
    assert fork.view.version == version and not chat.requests.all
    new = served.address(link_to(served.forky, chat, live=True, returns=True))
    assert send_back(ben, fork.id, new).requests == (1,)
    assert address_of(ben, fork.id) == new, "the next time it is known"


def test_an_original_that_was_erased_takes_nothing_and_the_fork_stays_whole(served: Served) -> None:
    chat, address, _ = shared(served)
    ben = somebody("ben")
    fork = talk(taken(ben, address), "Encrypted?")
    before = texts(fork)
    chat.trash()
    served.forky.store.purge(chat.id)
    with pytest.raises(BadContent, match="Ask for a new link"):
        send_back(ben, fork.id)
    with pytest.raises(BadContent):
        fetch_news(ben, fork.id)
    assert texts(fork) == before and ben.verify().clean


def test_a_message_that_was_erased_in_the_original_does_not_come_back_with_the_fork(served: Served) -> None:
    chat, address, _ = shared(served)
    ben = somebody("ben")
    fork = talk(taken(ben, address), "Encrypted?")
    first = chat.path()[0]
    served.forky.store.erase(chat.id, first.id, by="ana", at=1)
    assert send_back(ben, fork.id).messages == 1
    assert served.forky.store.message(chat.id, first.id).text != first.text and served.forky.verify().clean


def test_a_fork_of_a_link_that_replaced_something_is_given_back_again_with_what_it_says_since(
    served: Served,
) -> None:
    chat = talk(served.forky.create("Mail"), "I am ada@example.com", "Noted.")
    ben = somebody("ben")
    fork = talk(taken(ben, served.address(link_to(served.forky, chat, returns=True))), "And then?", "443.")
    assert send_back(ben, fork.id).requests == (1,)
    assert send_back(ben, fork.id).messages == 0 and len(chat.requests.all) == 1
    talk(fork, "And after?", "8443.")
    done = send_back(ben, fork.id)
    assert (done.messages, done.requests) == (2, (1,))
    assert "8443" in chat.requests.plan(1).payload and served.forky.verify().clean


def test_without_a_link_and_an_original_here_a_sentence_says_what_can_be_done() -> None:
    ana, ben = somebody("ana"), somebody("ben")
    chat = talk(ana.create("Ports"), "Which port?")
    fork = ben.conversation(fork_file(ben, chat_of(ana.store, chat.id)).conversation)
    assert original_here(ben, fork.id) is None
    for asked in (lambda: send_back(ben, fork.id), lambda: fetch_news(ben, fork.id)):
        with pytest.raises(BadContent, match="no link to it is known"):
            asked()
    with pytest.raises(AddressRefused):
        send_back(ben, fork.id, "http://169.254.169.254/s/x")
    assert address_of(ben, fork.id) == "", "what was refused is not remembered"


def test_within_a_workspace_news_are_of_the_shared_branches_alone_and_keep_their_authors() -> None:
    forky = somebody("ana")
    chat = talk(forky.create("Ports"), "Which port?", "Port 80.")
    fork = fork_part(forky, chat_of(forky.store, chat.id))
    talk(fork, "Encrypted?")
    talk(chat.fork("private"), "Nobody's business?")
    talk(chat.checkout("main"), "Meanwhile?")
    assert original_here(forky, fork.id) == chat.id
    assert fetch_news(forky, fork.id).messages == 1
    assert sorted(fork.branches) == ["main", "origin/main"]
    assert forky.store.operations(fork.id)[-1].verb == "ask"
    done = send_back(forky, fork.id)
    assert (done.messages, done.requests) == (1, (1,)) and "from here" in chat.requests.all[0].note
    assert send_back(forky, fork.id).requests == ()
    assert forky.verify().clean


def test_a_link_that_takes_nothing_back_says_so(served: Served) -> None:
    chat = talk(served.forky.create("Ports"), "Which port?", "Port 80.")
    ben = somebody("ben")
    fork = talk(taken(ben, served.address(link_to(served.forky, chat))), "Encrypted?")
    with pytest.raises(BadContent, match="nothing is given back"):
        send_back(ben, fork.id)
    assert not chat.requests.all


def test_the_address_is_read_by_editors_of_the_fork_alone_and_by_tokens_that_land(served: Served) -> None:
    chat, address, _ = shared(served)
    with office() as here:
        ada = here.join("Ada")
        hers = here.seen_by(ada)
        fork = taken(hers, address)
        for role in (Role.VIEWER, Role.COMMENTER, Role.EDITOR):
            ben = here.join(f"Ben {role}", Role.COMMENTER)
            here.team.sharing.share(fork.id, ben.id, role, by=ada.id)
            his = here.seen_by(ben)
            edits = role is Role.EDITOR
            with nullcontext() if edits else pytest.raises(NotAllowed):
                his.store.keep_derived(fork.id, {EDITORS_DERIVED: f"{address}?other"})
                his.store.keep_derived(fork.id, {EDITORS_DERIVED: address})
            assert address_of(his, fork.id) == (address if edits else "")
            assert his.store.derived_under(EDITORS_DERIVED) == ({fork.id: address} if edits else {})
            if not edits:
                with pytest.raises(BadContent, match="no link to it is known"):
                    send_back(his, fork.id)
        for scope in SCOPES:
            seen = token_view(hers, TokenRights("Agent", "t1", frozenset({"read", scope})))
            assert address_of(seen, fork.id) == (address if scope == "land" else "")
            assert bool(seen.store.derived_under(EDITORS_DERIVED)) == (scope == "land")
    assert not chat.requests.all
