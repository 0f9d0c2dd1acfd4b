"""A line of thought can be put aside and taken up elsewhere, whole."""

from __future__ import annotations

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.model.errors import BadContent, NotFound
from tests.builders import talk, texts, workspace


@pytest.fixture
def chat() -> Conversation:
    forky, _ = workspace()
    return talk(forky.create("Names"), "a", "b", "c", "d")


def test_a_draft_comes_back_as_it_was_typed(chat: Conversation) -> None:
    file = chat._repo.store.put_blob(b"a note", "text/plain")
    kept = chat.stash(draft="What about\nthis?", attachments=[file])
    applied = chat.stash_pop(kept.number)
    assert (applied.draft, applied.attachments, applied.copied) == ("What about\nthis?", (file,), ())
    assert chat.view.stashes == ()


def test_stashing_messages_sets_the_branch_back_and_keeps_them_visible(chat: Conversation) -> None:
    run = [message.id for message in chat.path()[2:]]
    kept = chat.stash(last=2)
    assert texts(chat) == ["a", "b"]
    assert all(id in chat.visible.messages for id in run)
    assert kept.messages == tuple(run)


def test_popping_where_it_came_from_copies_nothing(chat: Conversation) -> None:
    before = chat.path()
    chat.stash_pop(chat.stash(last=2).number)
    assert chat.path() == before


def test_popping_elsewhere_copies_the_messages_with_their_sources(chat: Conversation) -> None:
    kept = chat.stash(last=2)
    other = talk(chat.fork("other", at=chat.path()[0].id), "x")
    other.stash_pop(kept.number)
    assert texts(other) == ["a", "x", "c", "d"]
    assert tuple(message.sources[0] for message in other.path()[2:]) == kept.messages


def test_applying_keeps_the_stash_and_settings_travel(chat: Conversation) -> None:
    chat.set_rules(system="Be brief.")
    kept = chat.stash(with_rules=True)
    other = chat.fork("other")
    other.set_rules(system="Be long.")
    other.stash_apply(kept.number)
    assert other.rules.system == "Be brief."
    assert [s.number for s in chat.view.stashes] == [kept.number]


def test_stashes_are_listed_newest_first_and_dropped_by_number(chat: Conversation) -> None:
    chat.stash(draft="one")
    chat.stash(draft="two")
    assert [s.note for s in chat.view.stashes] == ["two", "one"]
    chat.stash_drop(1)
    assert [s.note for s in chat.view.stashes] == ["two"]
    with pytest.raises(NotFound):
        chat.stash_pop(1)
    chat.undo()
    assert len(chat.view.stashes) == 2


def test_stashing_nothing_or_more_than_there_is_is_refused(chat: Conversation) -> None:
    with pytest.raises(BadContent):
        chat.stash()
    with pytest.raises(BadContent, match="only 4"):
        chat.stash(last=5)


def test_one_undo_takes_a_pop_back(chat: Conversation) -> None:
    kept = chat.stash(last=2)
    other = chat.fork("other", at=chat.path()[0].id)
    other.stash_pop(kept.number)
    other.undo()
    assert texts(other) == ["a"]
    assert len(chat.view.stashes) == 1


def test_a_stash_is_called_by_whole_words_without_their_markup(chat: Conversation) -> None:
    said = "A **bold** thought about one thing and another, which goes on for longer than anybody reads"
    assert chat.stash(draft=said).note == "A bold thought about one thing and another, which goes on…"
    file = chat._repo.store.put_blob(b"a note", "text/plain")
    assert chat.stash(attachments=[file]).note == "files of main"
    assert chat.stash(with_rules=True, note="as it was").note == "as it was"
