from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from forky_core.model import ConversationId
from forky_core.model.errors import BadContent, InTheWay, NotAllowed, NotFound
from forky_core.people.roles import Role
from forky_core.people.sharing import OWNERS
from forky_core.people.views import join_team
from tests.builders import talk
from tests.people.people import Office


def test_a_conversation_is_its_owners_alone_until_it_is_shared(here: Office) -> None:
    ada, bob, cleo = (
        here.join("Ada", Role.COMMENTER),
        here.join("Bob", Role.VIEWER),
        here.join("Cleo", Role.OWNER),
    )
    chat, sharing = here.seen_by(ada).create("Boats"), here.team.sharing

    def roles() -> list[Role]:
        found = [sharing.role_in(chat.id, one.id) for one in (ada, bob, cleo)]
        assert found == [sharing.roles_in(one.id).get(chat.id, Role.NONE) for one in (ada, bob, cleo)]
        everybody = zip((ada, bob, cleo), found, strict=True)
        assert sharing.readers(chat.id) == [(one, role) for one, role in everybody if role]
        return found

    assert sharing.readers(ConversationId("nowhere")) == ()
    assert sharing.role_in(ConversationId("nowhere"), cleo.id) is Role.NONE
    assert roles() == [Role.OWNER, Role.NONE, Role.NONE]
    sharing.share_with_everyone(chat.id, shared=True, by=ada.id)
    assert roles() == [Role.OWNER, Role.VIEWER, Role.OWNER]
    sharing.share(chat.id, bob.id, Role.EDITOR, by=ada.id)
    assert roles() == [Role.OWNER, Role.EDITOR, Role.OWNER], "the higher one counts"
    sharing.share_with_everyone(chat.id, shared=False, by=ada.id)
    assert roles() == [Role.OWNER, Role.EDITOR, Role.NONE]
    sharing.share(chat.id, bob.id, Role.NONE, by=ada.id)
    assert roles() == [Role.OWNER, Role.NONE, Role.NONE]


def test_what_the_others_may_see_is_read_once_for_all_of_them(
    here: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = [here.join(f"Person {number}", Role.EDITOR) for number in range(8)]
    chats = [here.seen_by(one).create("Boats").id for one in people for _ in range(4)]
    sharing, database = here.team.sharing, here.team.database
    sharing.share_with_everyone(chats[0], shared=True, by=people[0].id)
    sharing.share(chats[5], people[7].id, Role.VIEWER, by=people[1].id)
    read: list[str] = []
    many = database.many

    def counted(columns: Sequence[str], rest: str, *values: Any) -> Sequence[Sequence[Any]]:
        read.append(rest)
        return many(columns, rest, *values)

    monkeypatch.setattr(database, "many", counted)
    for one in people:
        roles = {id: sharing.role_in(id, one.id) for id in chats}
        assert sharing.roles_in(one.id) == {id: role for id, role in roles.items() if role}
    assert len(read) == 2, "the conversations and the shares, and not for each person"


def test_one_that_is_handed_over_has_a_new_owner_and_the_former_one_edits(here: Office) -> None:
    ada, bob = here.join("Ada"), here.join("Bob")
    chat = here.seen_by(ada).create("Boats")
    with pytest.raises(BadContent):
        here.team.sharing.share(chat.id, ada.id, Role.VIEWER, by=bob.id)
    here.team.sharing.hand_over(chat.id, bob.id, by=ada.id)
    found = here.team.sharing.of(chat.id)
    assert (found.owner, dict(found.people)) == (bob.id, {ada.id: Role.EDITOR})
    with pytest.raises(NotFound):
        here.team.sharing.hand_over(chat.id, "person:nobody", by=bob.id)
    with pytest.raises(NotFound):
        here.team.sharing.share(chat.id, "person:nobody", Role.VIEWER, by=bob.id)


def test_conversations_from_before_the_team_belong_to_its_owners(here: Office) -> None:
    old = talk(here.whole.create("Old"), "Before")
    shown = here.whole.create("Ready")
    join_team(here.whole, here.team, shown_to_all=shown.id)
    ada, bob = here.join("Ada", Role.OWNER), here.join("Bob", Role.EDITOR)
    assert here.team.sharing.of(old.id).owner == OWNERS
    assert here.team.sharing.roles_in(ada.id) == {old.id: Role.OWNER, shown.id: Role.OWNER}
    assert here.team.sharing.roles_in(bob.id) == {shown.id: Role.EDITOR}
    here.team.sharing.hand_over(old.id, bob.id, by=ada.id)
    join_team(here.whole, here.team)
    assert here.team.sharing.roles_in(bob.id)[old.id] is Role.OWNER, "joining again changes nothing"


def test_a_record_that_a_crash_left_stops_nobody(here: Office) -> None:
    ada, bob = here.join("Ada"), here.join("Bob")
    id = ConversationId("01890000-0000-7000-8000-00000000abcd")
    here.team.sharing.begin(id, ada.id)
    here.team.sharing.begin(id, ada.id)
    with pytest.raises(InTheWay):
        here.team.sharing.begin(id, bob.id)
    join_team(here.whole, here.team)
    assert not here.team.sharing.known(id)


def test_what_is_purged_is_shared_with_nobody(here: Office) -> None:
    ada, bob = here.join("Ada"), here.join("Bob")
    chat = here.seen_by(ada).create("Boats")
    here.team.sharing.share(chat.id, bob.id, Role.EDITOR, by=ada.id)
    chat.trash()
    with pytest.raises(NotAllowed):
        here.seen_by(bob).purge(chat.id)
    here.seen_by(ada).purge(chat.id)
    with pytest.raises(NotFound):
        here.team.sharing.of(chat.id)
    assert here.team.sharing.roles_in(bob.id) == {}
