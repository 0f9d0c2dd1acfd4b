"""Notices: who gets which, what they say, where they lead, and when they are gone."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from forky_core.model import ConversationId
from forky_core.people import inbox as inbox_module
from forky_core.people.inbox import QUOTED
from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.people.team import Team
from forky_core.people.views import join_team
from tests.builders import talk
from tests.hangs import HANG
from tests.people.people import Office


@pytest.fixture
def ada(here: Office) -> Member:
    return here.join("Ada", Role.OWNER)


@pytest.fixture
def ben(here: Office, ada: Member) -> Member:
    return here.join("Ben", Role.EDITOR)


@pytest.fixture
def boats(here: Office, ada: Member) -> ConversationId:
    join_team(here.whole, here.team)
    return talk(here.seen_by(ada).create("Boats"), "Why?", "Because.").id


def sentences(here: Office, member: Member) -> list[str]:
    return [notice.sentence for notice in here.team.inbox.of(member.id)]


def test_a_share_a_hand_over_and_a_role_tell_the_person_they_are_about(
    here: Office, ada: Member, ben: Member, boats: ConversationId
) -> None:
    sharing = here.team.sharing
    sharing.share(boats, ben.id, Role.COMMENTER, by=ada.id)
    here.team.members.set_role(ben.id, Role.VIEWER, by=ada.id)
    here.team.members.set_role(ben.id, Role.EDITOR, by="")
    sharing.hand_over(boats, ben.id, by=ada.id)
    assert sentences(here, ben) == [
        "Ada handed “Boats” over to you.",
        "You are an editor of this workspace now.",
        "Ada made you a viewer of this workspace.",
        "Ada shared “Boats” with you; you are a commenter of it.",
    ]
    shared = here.team.inbox.of(ben.id)[-1]
    assert shared.address == f"/?c={boats}&so_far=1"
    # Ada is an editor of what was hers, which the hand-over says to her by the share that it makes.
    assert here.team.inbox.unread(ada.id) == 0


def test_a_new_name_of_a_person_and_a_conversation_holds_in_old_notices(
    here: Office, ada: Member, ben: Member, boats: ConversationId
) -> None:
    here.team.sharing.share(boats, ben.id, Role.EDITOR, by=ada.id)
    here.team.members.rename(ada.id, "Countess")
    here.seen_by(ada).conversation(boats).rename("Ships")
    assert sentences(here, ben) == ["Countess shared “Ships” with you; you are an editor of it."]


def test_a_request_tells_the_owner_and_its_answer_whoever_asked(
    here: Office, ada: Member, ben: Member, boats: ConversationId
) -> None:
    carol = here.join("Carol", Role.EDITOR)
    for member in (ben, carol):
        here.team.sharing.share(boats, member.id, Role.EDITOR, by=ada.id)
        here.team.inbox.mark_all(member.id)
    chat = here.seen_by(ben).conversation(boats)
    talk(chat.fork("side"), "And stones?", "They sink.")
    talk(chat.fork("other"), "And ice?", "It floats.")
    first = chat.requests.open("side", note="@carol knows")
    second = chat.requests.open("other")
    assert sentences(here, ada) == [
        "Ben asks for a merge, request 2 in “Boats”.",
        "Ben asks for a merge, request 1 in “Boats”.",
    ]
    assert sentences(here, carol)[0] == "Ben mentioned you in “Boats”."
    by_ada = here.seen_by(ada).conversation(boats)
    by_ada.requests.comment(first.number, "Looks good")
    by_ada.merge(by_ada.requests.accepting(first.number, by_ada.requests.plan(first.number)))
    by_ada.requests.decline(second.number, "Not now")
    told = here.team.inbox.of(ben.id, unread=True)
    assert [notice.kind for notice in told] == ["declined", "landed", "comment"]
    assert told[0].quote == "Not now"
    assert told[1].address == f"/merge?c={boats}&b=main&request=1"
    by_ada.undo()
    by_ada.redo()
    assert len(here.team.inbox.of(ben.id, unread=True)) == 3


def test_whom_the_conversation_belongs_to_is_told_of_a_request_and_nobody_else(
    here: Office, ada: Member, ben: Member, boats: ConversationId
) -> None:
    carol = here.join("Carol", Role.EDITOR)
    for member in (ben, carol):
        here.team.sharing.share(boats, member.id, Role.EDITOR, by=ada.id)
    chat = here.seen_by(ben).conversation(boats)
    talk(chat.fork("ben/side"), "And stones?", "They sink.")
    chat.requests.open("ben/side")
    asked = "Ben asks for a merge, request 1 in “Boats”."
    assert sentences(here, ada)[0] == asked and asked not in sentences(here, carol)


def test_whoever_proposed_is_told_of_each_review(
    here: Office, ada: Member, ben: Member, boats: ConversationId
) -> None:
    here.team.sharing.share(boats, ben.id, Role.EDITOR, by=ada.id)
    chat = here.seen_by(ben).conversation(boats)
    talk(chat.fork("side"), "And stones?", "They sink.")
    chat.requests.open("side")
    by_ada = here.seen_by(ada).conversation(boats).requests
    by_ada.ask_for_changes(1, "Please be shorter")
    by_ada.approve(1)
    by_ada.withdraw_review(1)
    withdrawn, approved, asked = here.team.inbox.of(ben.id, unread=True)[:3]
    assert asked.sentence == "Ada asks for changes to your request 1 in “Boats”."
    assert asked.quote == "Please be shorter" and asked.address == f"/merge?c={boats}&b=main&request=1"
    assert approved.sentence == "Ada approved your request 1 in “Boats”."
    assert withdrawn.sentence == "Ada took their review of your request 1 in “Boats” back."


def test_notices_are_read_one_by_one_or_all_at_once_and_only_by_whose_they_are(
    here: Office, ada: Member, ben: Member, boats: ConversationId
) -> None:
    inbox = here.team.inbox
    for role in (Role.VIEWER, Role.COMMENTER, Role.EDITOR):
        here.team.sharing.share(boats, ben.id, role, by=ada.id)
    first, *_ = inbox.of(ben.id)
    inbox.mark(ada.id, first.number)
    assert inbox.unread(ben.id) == 3
    inbox.mark(ben.id, first.number)
    assert inbox.unread(ben.id) == 2 and len(inbox.of(ben.id, unread=True)) == 2
    inbox.mark(ben.id, first.number, read=False)
    inbox.mark_all(ben.id)
    assert inbox.unread(ben.id) == 0 and len(inbox.of(ben.id)) == 3


def test_a_notice_holds_a_short_quotation_and_nobody_is_told_what_they_did(
    here: Office, ada: Member, ben: Member, boats: ConversationId
) -> None:
    here.team.sharing.share(boats, ben.id, Role.EDITOR, by=ada.id)
    inbox = here.team.inbox
    assert not inbox.tell(ben.id, "mention", by=ben.id, conversation=boats)
    assert not inbox.tell("person:0000000000000000", "mention", by=ada.id)
    inbox.tell(ben.id, "mention", by=ada.id, conversation=boats, quote="long\n" * 500)
    (notice, *_) = inbox.of(ben.id)
    assert len(notice.quote) <= QUOTED and "\n" not in notice.quote
    stored = here.team.database.rows("SELECT * FROM notices")
    assert max(len(str(value)) for row in stored for value in row) < 200


def test_only_the_newest_are_kept(
    here: Office, ada: Member, ben: Member, boats: ConversationId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_module, "KEPT", 3)
    here.team.sharing.share(boats, ben.id, Role.EDITOR, by=ada.id)
    for number in range(6):
        here.team.inbox.tell(ben.id, "mention", by=ada.id, conversation=boats, quote=str(number))
    assert [notice.quote for notice in here.team.inbox.of(ben.id)] == ["5", "4", "3"]
    rows = here.team.database.rows("SELECT count(*) AS many FROM notices WHERE person = ?", ben.id)
    assert rows[0]["many"] == 3


def test_a_change_is_told_after_it_was_written(
    here: Office, ada: Member, ben: Member, boats: ConversationId
) -> None:
    inbox, heard = here.team.inbox, []

    def changed(person: str) -> None:
        # Another thread finds it: nothing is locked, and the transaction is over.
        found: list[int] = []
        looking = threading.Thread(target=lambda: found.append(inbox.unread(ben.id)))
        looking.start()
        looking.join(HANG)
        heard.append((person, found))

    inbox.changed = changed
    here.team.sharing.share(boats, ben.id, Role.VIEWER, by=ada.id)
    assert heard == [(ben.id, [1])]


def test_what_is_taken_back_before_it_is_written_tells_nobody(
    here: Office, ada: Member, ben: Member, boats: ConversationId
) -> None:
    heard: list[str] = []
    here.team.inbox.changed = heard.append

    def share_and_fail() -> None:
        with here.team.database.writing():
            here.team.sharing.share(boats, ben.id, Role.EDITOR, by=ada.id)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        share_and_fail()
    assert heard == [] and here.team.inbox.of(ben.id) == []
    here.team.sharing.share(boats, ben.id, Role.EDITOR, by=ada.id)
    assert heard == [ben.id]


def test_another_process_sees_them(tmp_path: Path) -> None:
    file = tmp_path / "people.sqlite"
    one, other = Team(file), Team(file)
    ada = one.members.add("Ada", Role.OWNER)
    ben = one.members.add("Ben", Role.EDITOR)
    one.members.set_role(ben.id, Role.VIEWER, by=ada.id)
    assert [notice.sentence for notice in other.inbox.of(ben.id)] == [
        "Ada made you a viewer of this workspace."
    ]
    one.close()
    other.close()


def test_the_notices_of_whoever_is_forgotten_are_gone(here: Office, ada: Member, ben: Member) -> None:
    here.team.members.set_role(ben.id, Role.VIEWER, by=ada.id)
    here.team.members.forget(ben.id, by=ada.id)
    assert here.team.database.rows("SELECT * FROM notices") == []


def test_what_is_counted_is_what_is_listed(
    here: Office, ada: Member, ben: Member, boats: ConversationId
) -> None:
    inbox, sharing = here.team.inbox, here.team.sharing

    def counted() -> int:
        assert inbox.unread(ben.id) == len(inbox.of(ben.id, unread=True))
        return inbox.unread(ben.id)

    sharing.share(boats, ben.id, Role.COMMENTER, by=ada.id)
    here.team.members.set_role(ben.id, Role.VIEWER, by=ada.id)
    assert counted() == 2
    inbox.mark(ben.id, inbox.of(ben.id)[0].number)
    assert counted() == 1
    sharing.share(boats, ben.id, Role.NONE, by=ada.id)
    assert counted() == len([one for one in inbox.of(ben.id, unread=True) if str(boats) not in one.address])
    here.team.members.remove(ben.id, by=ada.id)
    assert counted() == 0
