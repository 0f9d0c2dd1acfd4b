"""A fork goes to somebody else's workspace and comes home, by a file and by Git, to be landed by a person."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.people.authors import Authors
from forky_core.conversation.workspace import Workspace
from forky_core.formats.forky_file.adopting import AdoptResult, adopt, fork_file, pull
from forky_core.formats.forky_file.chat import Chat
from forky_core.formats.forky_file.files import load, save
from forky_core.formats.importing.landing import import_file
from forky_core.formats.importing.undo_import import undo_import
from forky_core.model.errors import NotFound
from forky_core.store.memory.store import MemoryStore
from forky_core.views.shelf import forked_from
from tests.builders import ScriptedModels, debugged, talk, texts
from tests.formats.forky_file.chats import value_of
from tests.formats.forky_file.test_uniting import commit, git, with_the_driver


def somebody(name: str) -> Workspace:
    return Workspace(MemoryStore(), ScriptedModels(), actor=name)


def forked(chat: Conversation, by: Workspace) -> Conversation:
    """The fork that somebody else makes of the conversation's file."""
    return by.conversation(fork_file(by, value_of(chat)).conversation, "main")


def given_back(forky: Workspace, fork: Conversation) -> AdoptResult:
    return adopt(forky, value_of(fork))


def test_a_fork_comes_home_as_a_proposal_with_its_messages_ids_and_authors(forky: Workspace) -> None:
    chat = debugged(forky)
    before = chat.view.branches["main"]
    fork = talk(forked(chat, somebody("ben")), "A better idea?", "Decision: generate stubs.")
    done = given_back(forky, fork)
    assert (done.conversation, done.outcome, done.messages) == (chat.id, "grown", 2)
    assert len(forky.conversations()) == 1, "no second chat"
    assert chat.view.branches["main"] == before, "nothing moves until somebody lands it"
    (request,) = chat.requests.all
    assert done.requests == (request.number,) and "request 1" in done.remarks[-1]
    assert "ben" in request.note and "by a file" in request.note
    brought = chat.checkout(request.source)
    assert [one.id for one in brought.path()] == [one.id for one in fork.path()]
    authors = Authors()
    authors.add(forky.store.operations(chat.id))
    assert {authors.of(one.id) for one in fork.path()[-2:]} == {"ben"}
    chat.merge(chat.requests.accepting(1, chat.requests.plan(1)))
    assert texts(chat.checkout("main"))[-1] == "Decision: generate stubs."
    assert forky.verify().clean


def test_both_sides_moved_on_and_nothing_is_lost(forky: Workspace) -> None:
    chat = debugged(forky)
    ben = somebody("ben")
    fork = talk(forked(chat, ben), "Ben's?", "Decision: port 80.")
    talk(chat.checkout("main"), "Mine?", "Decision: port 443.")
    given_back(forky, fork)
    main = chat.checkout("main")
    main.merge(main.requests.accepting(1, main.requests.plan(1)))
    said = " ".join(str(one) for one in forky.store.messages(chat.id).values())
    assert "port 80" in said and "port 443" in said and texts(main)[-1] != "Decision: port 80."
    news = pull(ben, fork.id, value_of(chat))
    assert news.outcome == "grown" and texts(fork.checkout("main")) == texts(main), (
        "it lands with the fork's own"
    )
    assert forky.verify().clean and ben.verify().clean


def test_given_back_twice_is_once_and_more_of_it_joins_the_open_request(forky: Workspace) -> None:
    chat = debugged(forky)
    fork = talk(forked(chat, somebody("ben")), "One?", "1.")
    given_back(forky, fork)
    version = chat.view.version
    assert given_back(forky, fork).outcome == "unchanged" and chat.view.version == version
    talk(fork, "Two?", "2.")
    more = given_back(forky, fork)
    assert (more.messages, more.requests) == (2, (1,)) and len(chat.requests.all) == 1
    (request,) = chat.requests.all
    assert texts(chat.checkout(request.source))[-1] == "2."
    chat.requests.decline(1)
    assert given_back(forky, fork).outcome == "unchanged"


def test_one_undo_takes_the_request_back_and_one_more_the_messages(forky: Workspace) -> None:
    chat = debugged(forky)
    before = chat.view.branches
    given_back(forky, talk(forked(chat, somebody("ben")), "One?", "1.", "Two?", "2."))
    chat.undo()
    chat.undo()
    assert chat.view.branches == before and not chat.requests.all


def test_an_import_of_a_fork_can_be_taken_back(forky: Workspace, tmp_path: Path) -> None:
    chat = debugged(forky)
    before = chat.view.branches
    file = tmp_path / "fork.forky.jsonl"
    save(value_of(talk(forked(chat, somebody("ben")), "One?", "1.")), file)
    done = import_file(forky, file)
    assert done.conversations == (chat.id,) and done.whole and chat.requests.all
    assert done.number is not None
    undo_import(forky, done.number)
    assert chat.view.branches == before and not chat.requests.all


def test_somebody_who_is_called_as_i_am_is_told_from_me(forky: Workspace) -> None:
    chat = debugged(forky)
    fork = talk(forked(chat, somebody(forky.actor)), "One?", "1.")
    given_back(forky, fork)
    assert f"{forky.actor} ({fork.id[-6:]})" in {one.actor for one in forky.store.operations(chat.id)}


def test_a_fork_whose_original_is_gone_becomes_a_conversation_of_its_own(forky: Workspace) -> None:
    chat = debugged(forky)
    fork = talk(forked(chat, somebody("ben")), "One?", "1.")
    chat.trash()
    forky.store.purge(chat.id)
    done = given_back(forky, fork)
    assert done.conversation == fork.id and "is not here" in done.remarks[-1]
    with pytest.raises(NotFound):
        forky.conversation(chat.id)


def test_what_was_erased_in_the_original_does_not_come_back(forky: Workspace) -> None:
    chat = debugged(forky)
    fork = talk(forked(chat, somebody("ben")), "One?", "1.")
    secret = chat.path()[0]
    forky.store.erase(chat.id, secret.id, by=forky.actor, at=1)
    given_back(forky, fork)
    kept = forky.store.messages(chat.id)[secret.id]
    assert kept.text != secret.text and forky.verify().clean
    brought = talk(fork, "Two?", "A secret.")
    given_back(forky, brought)
    forky.store.erase(chat.id, brought.path()[-1].id, by=forky.actor, at=1)
    given_back(forky, talk(fork, "Three?", "3."))
    assert "A secret." not in str(forky.store.messages(chat.id).values())


def test_a_file_without_a_log_comes_home_under_the_name_of_who_brings_it(forky: Workspace) -> None:
    chat = debugged(forky)
    fork = talk(forked(chat, somebody("ben")), "One?", "1.")
    whole = value_of(fork)
    done = adopt(forky, replace(whole, operations=()))
    assert done.messages == 2 and len(chat.requests.all) == 1
    assert "ben" not in {one.actor for one in forky.store.operations(chat.id)}


def test_news_of_the_original_wait_on_a_branch_of_their_own_where_both_moved_on(forky: Workspace) -> None:
    chat = debugged(forky)
    ben = somebody("ben")
    fork = talk(forked(chat, ben), "Ben's?", "b")
    talk(chat.checkout("main"), "Mine?", "m")
    pull(ben, fork.id, value_of(chat))
    assert texts(fork.checkout("main"))[-1] == "b" and texts(fork.checkout("origin/main"))[-1] == "m"
    talk(chat.checkout("main"), "More?", "mm")
    pull(ben, fork.id, value_of(chat))
    assert texts(fork.checkout("origin/main"))[-1] == "mm" and "origin/main-2" not in fork.branches
    done = given_back(forky, fork)
    assert done.messages == 2 and len(done.requests) == 1, "what came from here is not given back"


def test_a_fork_comes_home_and_takes_the_news_by_git(tmp_path: Path) -> None:
    chat = debugged(somebody("ana"))
    with_the_driver(tmp_path)
    commit(tmp_path, chat)
    git(tmp_path, "checkout", "-qb", "ben")
    ben = somebody("ben")
    fork = forked(chat, ben)
    commit(tmp_path, talk(fork, "Ben's?", "b"))
    git(tmp_path, "checkout", "-q", "main")
    commit(tmp_path, talk(chat.checkout("main"), "Mine?", "m"))
    git(tmp_path, "merge", "-q", "ben", "-m", "both")
    done = load(tmp_path / "talk.forky.jsonl")
    assert done.id == chat.id and "by Git" in str(done.entries["requests/1"])
    assert {one.actor for one in done.operations} >= {"ana", "ben"}
    assert texts_of(done, "main")[-1] == "m" and texts_of(done, f"fork-{fork.id[-6:]}/main")[-1] == "b"
    git(tmp_path, "checkout", "-q", "ben")
    git(tmp_path, "merge", "-q", "main^1", "-m", "news")
    own = load(tmp_path / "talk.forky.jsonl")
    assert own.id == fork.id and texts_of(own, "main")[-1] == "b" and texts_of(own, "origin/main")[-1] == "m"
    assert adopt(ben, own).outcome == "grown" and ben.verify().clean


def texts_of(chat: Chat, branch: str) -> list[str]:
    at, found = chat.view.branches[branch].head, []
    while at is not None:
        found.append(chat.messages[at].text)
        at = chat.messages[at].parent
    return found[::-1]


def test_a_fork_says_where_it_comes_from_and_its_file_says_so_too(forky: Workspace) -> None:
    chat = debugged(forky)
    fork = forked(chat, somebody("ben"))
    head = chat.view.branches["main"].head
    assert head is not None
    sentence = f"Forked from “{chat.title}”, through a file, at {head.removeprefix('b2:')[:8]}."
    assert forked_from(fork.view) == sentence and forked_from(value_of(fork).view) == sentence
    assert forked_from(chat.view) == ""
