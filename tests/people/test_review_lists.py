"""The lists of the front page: what waits for a member's review, and the member's own requests."""

from __future__ import annotations

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.people.members import Member
from forky_core.people.review_lists import ReviewLists, review_lists
from forky_core.people.roles import Role
from tests.builders import talk
from tests.people.people import Office


class Wall:
    def __init__(self, here: Office) -> None:
        self.here = here
        self.ada, self.bob = here.join("Ada", Role.OWNER), here.join("Bob")

    def begin(self, title: str) -> Conversation:
        chat = talk(self.here.seen_by(self.ada).create(title), "Why?", "Because.")
        self.here.team.sharing.share_with_everyone(chat.id, shared=True, by=self.ada.id)
        return chat

    def ask(self, member: Member, chat: Conversation) -> None:
        theirs = self.here.seen_by(member).conversation(chat.id, "main")
        number = len(theirs.branches)
        theirs.requests.open(talk(theirs.fork(f"{member.handle}/{number}"), f"What of {number}?", "Nothing."))

    def lists(self, member: Member) -> ReviewLists:
        return review_lists(self.here.seen_by(member), self.here.guard(member).access)


@pytest.fixture
def wall(here: Office) -> Wall:
    return Wall(here)


def named(lists: ReviewLists) -> tuple[list[str], list[str]]:
    one = [f"{line.title} {line.request.number}" for line in lists.to_review]
    return one, [f"{line.title} {line.request.number}" for line in lists.mine]


def test_requests_of_all_conversations_are_listed_newest_first(wall: Wall) -> None:
    boats, stones = wall.begin("Boats"), wall.begin("Stones")
    assert named(wall.lists(wall.bob)) == ([], [])
    wall.ask(wall.bob, boats)
    wall.ask(wall.bob, stones)
    wall.ask(wall.bob, boats)
    expected = ["Boats 2", "Stones 1", "Boats 1"]
    assert named(wall.lists(wall.ada)) == (expected, [])
    assert named(wall.lists(wall.bob)) == ([], expected)
    boats.requests.decline(1)
    stones.trash()
    assert named(wall.lists(wall.bob)) == ([], ["Boats 2"])


def test_a_review_takes_it_from_the_list_until_something_moves(wall: Wall) -> None:
    boats = wall.begin("Boats")
    wall.ask(wall.bob, boats)
    boats.requests.approve(1)
    assert named(wall.lists(wall.ada)) == ([], [])
    [mine] = wall.lists(wall.bob).mine
    assert (mine.approved, mine.asking) == ((wall.ada.id,), ())
    his = wall.here.seen_by(wall.bob).conversation(boats.id, boats.requests.get(1).source)
    talk(his, "And then?", "Later.")
    assert named(wall.lists(wall.ada))[0] == ["Boats 1"]
    [mine] = wall.lists(wall.bob).mine
    assert mine.approved == ()
    boats.requests.ask_for_changes(1, "Say when.")
    [mine] = wall.lists(wall.bob).mine
    assert named(wall.lists(wall.ada)) == ([], []) and mine.asking == (wall.ada.id,)


def test_it_waits_for_whoever_the_conversation_belongs_to(wall: Wall) -> None:
    boats, cleo = wall.begin("Boats"), wall.here.join("Cleo")
    wall.ask(wall.bob, boats)
    assert named(wall.lists(wall.ada))[0] == ["Boats 1"] and named(wall.lists(cleo)) == ([], [])


def test_what_is_not_seen_is_not_listed(wall: Wall) -> None:
    boats = wall.begin("Boats")
    wall.ask(wall.bob, boats)
    assert named(wall.lists(wall.bob))[1] == ["Boats 1"]
    wall.here.team.sharing.share_with_everyone(boats.id, shared=False, by=wall.ada.id)
    assert named(wall.lists(wall.bob)) == ([], [])
