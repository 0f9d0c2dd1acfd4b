"""A line of thought can be put aside and taken up elsewhere, whole."""

from __future__ import annotations

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.model.errors import BadContent, NotFound
from tests.builders import begun, talk, texts


@pytest.fixture
def chat() -> Conversation:
    return begun("a", "b", "c", "d", title="Names")[0]


def test_a_draft_comes_back_as_it_was_typed(chat: Conversation) -> None:
    file = chat._session.store.put_blob(b"a note", "text/plain")
    kept = chat.stashes.create(draft="What about\nthis?", attachments=[file])
    applied = chat.stashes.pop(kept.number)
    assert (applied.draft, applied.attachments, applied.copied) == ("What about\nthis?", (file,), ())
    assert chat.view.stashes == ()


def test_stashing_messages_sets_the_branch_back_and_keeps_them_visible(chat: Conversation) -> None:
    run = [message.id for message in chat.path()[2:]]
    kept = chat.stashes.create(last=2)
    assert texts(chat) == ["a", "b"]
    assert all(id in chat.visible.messages for id in run)
    assert kept.messages == tuple(run)


def test_popping_where_it_came_from_copies_nothing(chat: Conversation) -> None:
    before = chat.path()
    chat.stashes.pop(chat.stashes.create(last=2).number)
    assert chat.path() == before


def test_popping_elsewhere_copies_the_messages_with_their_sources(chat: Conversation) -> None:
    kept = chat.stashes.create(last=2)
    other = talk(chat.fork("other", at=chat.path()[0].id), "x")
    other.stashes.pop(kept.number)
    assert texts(other) == ["a", "x", "c", "d"]
    assert tuple(message.sources[0] for message in other.path()[2:]) == kept.messages


def test_applying_keeps_the_stash_and_settings_travel(chat: Conversation) -> None:
    chat.rules.set(system="Be brief.")
    kept = chat.stashes.create(with_rules=True)
    other = chat.fork("other")
    other.rules.set(system="Be long.")
    other.stashes.apply(kept.number)
    assert other.rules.current.system == "Be brief."
    assert [s.number for s in chat.view.stashes] == [kept.number]


def test_stashes_are_listed_newest_first_and_dropped_by_number(chat: Conversation) -> None:
    chat.stashes.create(draft="one")
    chat.stashes.create(draft="two")
    assert [s.note for s in chat.view.stashes] == ["two", "one"]
    chat.stashes.drop(1)
    assert [s.note for s in chat.view.stashes] == ["two"]
    with pytest.raises(NotFound):
        chat.stashes.pop(1)
    chat.undo()
    assert len(chat.view.stashes) == 2


def test_stashing_nothing_or_more_than_there_is_is_refused(chat: Conversation) -> None:
    with pytest.raises(BadContent):
        chat.stashes.create()
    with pytest.raises(BadContent, match="only 4"):
        chat.stashes.create(last=5)


def test_one_undo_takes_a_pop_back(chat: Conversation) -> None:
    kept = chat.stashes.create(last=2)
    other = chat.fork("other", at=chat.path()[0].id)
    other.stashes.pop(kept.number)
    other.undo()
    assert texts(other) == ["a"]
    assert len(chat.view.stashes) == 1


def test_a_stash_is_called_by_whole_words_without_their_markup(chat: Conversation) -> None:
    said = "A **bold** thought about one thing and another, which goes on for longer than anybody reads"
    assert (
        chat.stashes.create(draft=said).note == "A bold thought about one thing and another, which goes on…"
    )
    file = chat._session.store.put_blob(b"a note", "text/plain")
    assert chat.stashes.create(attachments=[file]).note == "files of main"
    assert chat.stashes.create(with_rules=True, note="as it was").note == "as it was"
