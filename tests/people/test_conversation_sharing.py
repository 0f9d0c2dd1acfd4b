"""Who may say with whom a conversation is shared, and what the others then may do in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.model import ConversationId
from forky_core.model.errors import BadContent, NotAllowed, NotFound
from forky_core.people.conversation_sharing import ConversationSharing
from forky_core.people.guarded_store import GuardedStore
from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.people.sharing import OWNERS, SharedWith, SharingMark, Whose, belongs_here, mark_of
from forky_core.people.team import Team
from forky_core.people.views import join_team, member_view
from tests.builders import talk, workspace


class Desk:
    """A team of three with a workspace: Ada owns it, Bob edits, Carol comments."""

    def __init__(self) -> None:
        self.team = Team(None)
        self.forky: Workspace = workspace()[0]
        self.ada = self.team.members.add("Ada", Role.OWNER)
        self.bob = self.team.members.add("Bob", Role.EDITOR)
        self.carol = self.team.members.add("Carol", Role.COMMENTER)

    def seen_by(self, member: Member) -> Workspace:
        return member_view(self.forky, self.team, member.id)

    def sharing(self, member: Member, conversation: str) -> ConversationSharing:
        store = self.seen_by(member).store
        assert isinstance(store, GuardedStore)
        return ConversationSharing(store.access, ConversationId(conversation))


@pytest.fixture
def desk() -> Iterator[Desk]:
    opened = Desk()
    yield opened
    opened.team.close()


@pytest.fixture
def chat(desk: Desk) -> Conversation:
    """Bob's."""
    return talk(desk.seen_by(desk.bob).create("Boats"), "hello", "hi")


def test_what_is_begun_is_seen_by_its_owner_alone(desk: Desk, chat: Conversation) -> None:
    assert desk.sharing(desk.bob, chat.id).may_change
    for other in (desk.ada, desk.carol):
        with pytest.raises(NotFound):
            _ = desk.sharing(other, chat.id).shared_with
        with pytest.raises(NotFound):
            desk.seen_by(other).conversation(chat.id)


def test_a_single_person_sees_it_in_the_role_they_were_given(desk: Desk, chat: Conversation) -> None:
    desk.sharing(desk.bob, chat.id).share(desk.carol.id, Role.VIEWER)
    seen = desk.seen_by(desk.carol).conversation(chat.id)
    with pytest.raises(NotAllowed):
        seen.fork("carol/idea")
    desk.sharing(desk.bob, chat.id).share(desk.carol.id, Role.COMMENTER)
    seen.fork("carol/idea")
    desk.sharing(desk.bob, chat.id).share(desk.carol.id, Role.NONE)
    with pytest.raises(NotFound):
        desk.seen_by(desk.carol).conversation(chat.id)


CHANGES: dict[str, Callable[[ConversationSharing, Desk], None]] = {
    "everybody": lambda sharing, _desk: sharing.share_with_everyone(shared=False),
    "a person": lambda sharing, desk: sharing.share(desk.carol.id, Role.EDITOR),
    "hand over": lambda sharing, desk: sharing.hand_over(desk.carol.id),
}


@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("given", [Role.VIEWER, Role.COMMENTER, Role.EDITOR])
def test_nobody_but_its_owner_says_who_sees_it(
    desk: Desk, chat: Conversation, given: Role, what: str
) -> None:
    """Not even an owner of the workspace, and not somebody whose role in it is higher than their own."""
    own = desk.sharing(desk.bob, chat.id)
    own.share_with_everyone(shared=True)
    own.share(desk.carol.id, given)
    before = own.shared_with
    for other in (desk.ada, desk.carol):
        sharing = desk.sharing(other, chat.id)
        assert not sharing.may_change
        with pytest.raises(NotAllowed, match="belongs to Bob"):
            CHANGES[what](sharing, desk)
    assert own.shared_with == before


@pytest.mark.parametrize("what", CHANGES)
def test_what_belongs_to_nobody_is_the_owners_to_share(desk: Desk, what: str) -> None:
    chat = talk(desk.forky.create("From before there was a team"), "hello")
    join_team(desk.forky, desk.team, shown_to_all=chat.id)
    assert desk.sharing(desk.ada, chat.id).owner is None
    with pytest.raises(NotAllowed, match="belongs to the owners of this workspace"):
        CHANGES[what](desk.sharing(desk.bob, chat.id), desk)
    CHANGES[what](desk.sharing(desk.ada, chat.id), desk)


@pytest.mark.parametrize("what", CHANGES)
def test_whoever_may_not_see_it_is_told_that_there_is_none(desk: Desk, chat: Conversation, what: str) -> None:
    with pytest.raises(NotFound, match="no such conversation"):
        CHANGES[what](desk.sharing(desk.carol, chat.id), desk)
    with pytest.raises(NotFound):
        desk.sharing(desk.carol, chat.id).leave()


def test_handing_over_leaves_the_former_owner_an_editor(desk: Desk, chat: Conversation) -> None:
    sharing = desk.sharing(desk.bob, chat.id)
    sharing.hand_over(desk.carol.id)
    assert sharing.shared_with == SharedWith(desk.carol.id, everyone=False, people={desk.bob.id: Role.EDITOR})
    assert not sharing.may_change and desk.sharing(desk.carol, chat.id).may_change
    with pytest.raises(BadContent, match="belongs to them already"):
        desk.sharing(desk.carol, chat.id).hand_over(desk.carol.id)


def test_it_is_handed_over_to_members_only(desk: Desk, chat: Conversation) -> None:
    desk.team.members.remove(desk.carol.id, by=desk.ada.id)
    sharing = desk.sharing(desk.bob, chat.id)
    with pytest.raises(NotFound, match="not a member"):
        sharing.hand_over(desk.carol.id)
    with pytest.raises(NotFound, match="not a member"):
        sharing.share(desk.carol.id, Role.EDITOR)


def test_nobody_is_given_the_role_of_a_second_owner(desk: Desk, chat: Conversation) -> None:
    with pytest.raises(BadContent, match="belongs to one person"):
        desk.sharing(desk.bob, chat.id).share(desk.carol.id, Role.OWNER)


def test_whoever_it_was_shared_with_leaves_it(desk: Desk, chat: Conversation) -> None:
    desk.sharing(desk.bob, chat.id).share(desk.carol.id, Role.EDITOR)
    desk.sharing(desk.carol, chat.id).leave()
    with pytest.raises(NotFound):
        desk.seen_by(desk.carol).conversation(chat.id)
    with pytest.raises(BadContent, match="not shared with you by name"):
        desk.sharing(desk.bob, chat.id).leave()


class TestMarks:
    ALL: tuple[tuple[SharedWith, SharingMark, set[Whose]], ...] = (
        (SharedWith("me", False, {}), SharingMark("private", "Private"), {"all", "mine"}),
        (
            SharedWith("me", False, {"bob": Role.VIEWER}),
            SharingMark("people", "With Bob"),
            {"all", "mine", "by_me"},
        ),
        (
            SharedWith("me", False, {"bob": Role.VIEWER, "carol": Role.EDITOR}),
            SharingMark("people", "With 2 people"),
            {"all", "mine", "by_me"},
        ),
        (SharedWith("me", True, {}), SharingMark("everyone", "Everybody"), {"all", "mine", "by_me"}),
        (SharedWith("bob", False, {"me": Role.VIEWER}), SharingMark("people", "Bob"), {"all", "with_me"}),
        (SharedWith("bob", True, {}), SharingMark("everyone", "Bob · everybody"), {"all", "with_me"}),
        (SharedWith(OWNERS, False, {}), SharingMark("private", "The owners"), {"all", "with_me"}),
    )

    @pytest.mark.parametrize(("shared", "mark", "lists"), ALL)
    def test_a_mark_says_whose_it_is_and_who_sees_it(
        self, shared: SharedWith, mark: SharingMark, lists: set[Whose]
    ) -> None:
        assert mark_of(shared, "me", str.capitalize) == mark
        every: tuple[Whose, ...] = ("all", "mine", "with_me", "by_me")
        assert {whose for whose in every if belongs_here(shared, "me", whose)} == lists

    def test_a_reader_is_told_of_what_they_see_only(self, desk: Desk, chat: Conversation) -> None:
        for member, seen in ((desk.bob, {chat.id}), (desk.carol, set()), (desk.ada, set())):
            store = desk.seen_by(member).store
            assert isinstance(store, GuardedStore)
            assert set(store.access.shared) == seen
        desk.sharing(desk.bob, chat.id).share_with_everyone(shared=True)
        store = desk.seen_by(desk.carol).store
        assert isinstance(store, GuardedStore) and store.access.shared[chat.id].everyone
