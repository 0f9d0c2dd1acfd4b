"""Notices: who gets which, what they say, where they lead, and when they are gone."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.model import ConversationId
from forky_core.people import inbox as inbox_module
from forky_core.people.inbox import QUOTED, Inbox
from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.people.views import join_team
from tests.builders import talk
from tests.hangs import HANG
from tests.people.people import Office


@dataclass
class Room:
    """Ada's conversation about boats, and Ben, to whom she shows it."""

    here: Office
    ada: Member
    ben: Member
    boats: ConversationId

    @property
    def team(self) -> Team:
        return self.here.team

    @property
    def inbox(self) -> Inbox:
        return self.team.inbox

    def share(self, role: Role, *members: Member) -> None:
        for member in members or (self.ben,):
            self.team.sharing.share(self.boats, member.id, role, by=self.ada.id)

    def of(self, member: Member) -> Conversation:
        return self.here.seen_by(member).conversation(self.boats)

    def sentences(self, member: Member) -> list[str]:
        return [notice.sentence for notice in self.inbox.of(member.id)]


@pytest.fixture
def room(here: Office) -> Room:
    ada, ben = here.join("Ada", Role.OWNER), here.join("Ben", Role.EDITOR)
    join_team(here.whole, here.team)
    return Room(here, ada, ben, talk(here.seen_by(ada).create("Boats"), "Why?", "Because.").id)


def test_a_share_a_hand_over_and_a_role_tell_the_person_they_are_about(room: Room) -> None:
    sharing = room.team.sharing
    room.share(Role.COMMENTER)
    room.team.members.set_role(room.ben.id, Role.VIEWER, by=room.ada.id)
    room.team.members.set_role(room.ben.id, Role.EDITOR, by="")
    sharing.hand_over(room.boats, room.ben.id, by=room.ada.id)
    assert room.sentences(room.ben) == [
        "Ada handed “Boats” over to you.",
        "You are an editor of this workspace now.",
        "Ada made you a viewer of this workspace.",
        "Ada shared “Boats” with you; you are a commenter of it.",
    ]
    shared = room.inbox.of(room.ben.id)[-1]
    assert shared.address == f"/?c={room.boats}&so_far=1"
    # Ada is an editor of what was hers, which the hand-over says to her by the share that it makes.
    assert room.inbox.unread(room.ada.id) == 0


def test_a_new_name_of_a_person_and_a_conversation_holds_in_old_notices(room: Room) -> None:
    room.share(Role.EDITOR)
    room.team.members.rename(room.ada.id, "Countess")
    room.of(room.ada).rename("Ships")
    assert room.sentences(room.ben) == ["Countess shared “Ships” with you; you are an editor of it."]


def test_a_request_tells_the_owner_and_its_answer_whoever_asked(room: Room) -> None:
    carol = room.here.join("Carol", Role.EDITOR)
    room.share(Role.EDITOR, room.ben, carol)
    for member in (room.ben, carol):
        room.inbox.mark_all(member.id)
    chat = room.of(room.ben)
    talk(chat.fork("side"), "And stones?", "They sink.")
    talk(chat.fork("other"), "And ice?", "It floats.")
    first = chat.requests.open("side", note="@carol knows")
    second = chat.requests.open("other")
    assert room.sentences(room.ada) == [
        "Ben asks for a review, request 2 in “Boats”.",
        "Ben asks for a review, request 1 in “Boats”.",
    ]
    assert room.sentences(carol)[0] == "Ben mentioned you in “Boats”."
    by_ada = room.of(room.ada)
    by_ada.requests.comment(first.number, "Looks good")
    by_ada.merge(by_ada.requests.accepting(first.number, by_ada.requests.plan(first.number)))
    by_ada.requests.decline(second.number, "Not now")
    told = room.inbox.of(room.ben.id, unread=True)
    assert [notice.kind for notice in told] == ["declined", "landed", "comment"]
    assert told[0].quote == "Not now"
    assert told[1].address == f"/merge?c={room.boats}&b=main&request=1"
    by_ada.undo()
    by_ada.redo()
    assert len(room.inbox.of(room.ben.id, unread=True)) == 3


def test_whom_the_conversation_belongs_to_is_told_of_a_request_and_nobody_else(room: Room) -> None:
    carol = room.here.join("Carol", Role.EDITOR)
    room.share(Role.EDITOR, room.ben, carol)
    chat = room.of(room.ben)
    talk(chat.fork("ben/side"), "And stones?", "They sink.")
    chat.requests.open("ben/side")
    asked = "Ben asks for a review, request 1 in “Boats”."
    assert room.sentences(room.ada)[0] == asked and asked not in room.sentences(carol)


def test_whoever_proposed_is_told_of_each_review(room: Room) -> None:
    room.share(Role.EDITOR)
    chat = room.of(room.ben)
    talk(chat.fork("side"), "And stones?", "They sink.")
    chat.requests.open("side")
    by_ada = room.of(room.ada).requests
    by_ada.ask_for_changes(1, "Please be shorter")
    by_ada.approve(1)
    by_ada.withdraw_review(1)
    withdrawn, approved, asked = room.inbox.of(room.ben.id, unread=True)[:3]
    assert asked.sentence == "Ada asks for changes to your request 1 in “Boats”."
    assert asked.quote == "Please be shorter" and asked.address == f"/merge?c={room.boats}&b=main&request=1"
    assert approved.sentence == "Ada approved your request 1 in “Boats”."
    assert withdrawn.sentence == "Ada took their review of your request 1 in “Boats” back."


def test_notices_are_read_one_by_one_or_all_at_once_and_only_by_whose_they_are(room: Room) -> None:
    inbox = room.inbox
    for role in (Role.VIEWER, Role.COMMENTER, Role.EDITOR):
        room.share(role)
    first, *_ = inbox.of(room.ben.id)
    inbox.mark(room.ada.id, first.number)
    assert inbox.unread(room.ben.id) == 3
    inbox.mark(room.ben.id, first.number)
    assert inbox.unread(room.ben.id) == 2 and len(inbox.of(room.ben.id, unread=True)) == 2
    inbox.mark(room.ben.id, first.number, read=False)
    inbox.mark_all(room.ben.id)
    assert inbox.unread(room.ben.id) == 0 and len(inbox.of(room.ben.id)) == 3


def test_a_notice_holds_a_short_quotation_and_nobody_is_told_what_they_did(room: Room) -> None:
    room.share(Role.EDITOR)
    inbox = room.inbox
    assert not inbox.tell(room.ben.id, "mention", by=room.ben.id, conversation=room.boats)
    assert not inbox.tell("person:0000000000000000", "mention", by=room.ada.id)
    inbox.tell(room.ben.id, "mention", by=room.ada.id, conversation=room.boats, quote="long\n" * 500)
    (notice, *_) = inbox.of(room.ben.id)
    assert len(notice.quote) <= QUOTED and "\n" not in notice.quote
    stored = room.team.database.rows("SELECT * FROM notices")
    assert max(len(str(value)) for row in stored for value in row) < 200


def test_only_the_newest_are_kept(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox_module, "KEPT", 3)
    room.share(Role.EDITOR)
    for number in range(6):
        room.inbox.tell(room.ben.id, "mention", by=room.ada.id, conversation=room.boats, quote=str(number))
    assert [notice.quote for notice in room.inbox.of(room.ben.id)] == ["5", "4", "3"]
    rows = room.team.database.rows("SELECT count(*) AS many FROM notices WHERE person = ?", room.ben.id)
    assert rows[0]["many"] == 3


def test_a_change_is_told_after_it_was_written(room: Room) -> None:
    inbox, heard = room.inbox, []

    def changed(person: str) -> None:
        # Another thread finds it: nothing is locked, and the transaction is over.
        found: list[int] = []
        looking = threading.Thread(target=lambda: found.append(inbox.unread(room.ben.id)))
        looking.start()
        looking.join(HANG)
        heard.append((person, found))

    inbox.changed = changed
    room.share(Role.VIEWER)
    assert heard == [(room.ben.id, [1])]


def test_what_is_taken_back_before_it_is_written_tells_nobody(room: Room) -> None:
    heard: list[str] = []
    room.inbox.changed = heard.append

    def share_and_fail() -> None:
        with room.team.database.writing():
            room.share(Role.EDITOR)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        share_and_fail()
    assert heard == [] and room.inbox.of(room.ben.id) == []
    room.share(Role.EDITOR)
    assert heard == [room.ben.id]


def test_the_notices_of_whoever_is_forgotten_are_gone(room: Room) -> None:
    room.team.members.set_role(room.ben.id, Role.VIEWER, by=room.ada.id)
    room.team.members.forget(room.ben.id, by=room.ada.id)
    assert room.team.database.rows("SELECT * FROM notices") == []


def test_what_is_counted_is_what_is_listed(room: Room) -> None:
    inbox = room.inbox

    def counted() -> int:
        assert inbox.unread(room.ben.id) == len(inbox.of(room.ben.id, unread=True))
        return inbox.unread(room.ben.id)

    room.share(Role.COMMENTER)
    room.team.members.set_role(room.ben.id, Role.VIEWER, by=room.ada.id)
    assert counted() == 2
    inbox.mark(room.ben.id, inbox.of(room.ben.id)[0].number)
    assert counted() == 1
    room.share(Role.NONE)
    assert counted() == len(
        [one for one in inbox.of(room.ben.id, unread=True) if str(room.boats) not in one.address]
    )
    room.team.members.remove(room.ben.id, by=room.ada.id)
    assert counted() == 0
