"""How far somebody has seen a conversation, and what is new to them since."""

from __future__ import annotations

import pytest

from forky_core.model import ConversationId
from forky_core.people.conversation_threads import ConversationThreads
from forky_core.people.members import Member
from forky_core.people.news import News, news_in, news_since
from forky_core.people.roles import Role
from tests.builders import talk
from tests.people.people import Office


class Two:
    """Ada and Ben in one conversation."""

    def __init__(self, here: Office) -> None:
        self.here = here
        self.ada = here.join("Ada", Role.OWNER)
        self.ben = here.join("Ben", Role.EDITOR)
        self.id: ConversationId = talk(here.seen_by(self.ada).create("Boats"), "Why?", "Because.").id
        here.team.sharing.share(self.id, self.ben.id, Role.EDITOR, by=self.ada.id)

    def looks(self, member: Member) -> None:
        version = self.here.seen_by(member).store.view(self.id).version
        self.here.team.seen.note(member.id, self.id, version, self.here.team.threads.version(self.id))

    def news(self, member: Member) -> News:
        seen = self.here.team.seen.of(member.id, self.id)
        assert seen is not None
        return news_since(self.here.team, member.id, self.id, seen, self.here.seen_by(member).store)


@pytest.fixture
def two(here: Office) -> Two:
    return Two(here)


def test_what_others_said_is_new_and_ones_own_is_not(here: Office, two: Two) -> None:
    two.looks(two.ada)
    assert two.news(two.ada).count == 0
    by_ben = here.seen_by(two.ben).conversation(two.id)
    said = by_ben.say("And stones?")
    here.seen_by(two.ada).conversation(two.id).rename("Boats and stones")
    answer = here.seen_by(two.ben).conversation(two.id).say("They sink.", role="assistant")
    news = two.news(two.ada)
    assert (news.count, news.people) == (2, (two.ben.id,))
    assert news.places == (("main", said.id), ("main", answer.id))
    two.looks(two.ada)
    assert two.news(two.ada).count == 0


def test_what_was_undone_is_not_new_and_a_comment_is(here: Office, two: Two) -> None:
    two.looks(two.ada)
    chat = here.seen_by(two.ben).conversation(two.id)
    chat.say("Never mind.")
    chat.undo()
    assert two.news(two.ada).count == 0
    threads = ConversationThreads(here.guard(two.ben), two.id)
    thread = threads.begin(chat.path()[0].id, "Good question")
    threads.resolve(thread.id)
    news = two.news(two.ada)
    assert (news.count, news.people, news.places) == (1, (two.ben.id,), (("", chat.path()[0].id),))


def test_what_one_has_seen_never_goes_back(here: Office, two: Two) -> None:
    here.team.seen.note(two.ben.id, two.id, 9, 4)
    here.team.seen.note(two.ben.id, two.id, 3, 7)
    seen = here.team.seen.of(two.ben.id, two.id)
    assert seen is not None and (seen.operation, seen.event) == (9, 7)


def test_the_library_learns_the_news_of_each_and_of_what_was_never_opened(here: Office, two: Two) -> None:
    store = here.seen_by(two.ben).store

    def listed() -> dict[ConversationId, News | None]:
        rows = [(one.id, one.updated) for one in store.conversations()]
        return news_in(here.team, two.ben.id, rows, store)

    assert listed() == {two.id: None}
    two.looks(two.ben)
    assert listed() == {}
    here.seen_by(two.ada).conversation(two.id).say("More.")
    found = listed()[two.id]
    assert found is not None and found.count == 1
