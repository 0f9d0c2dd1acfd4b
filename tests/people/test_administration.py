"""What each role may do about the people of a workspace."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forky_core.gateway.access.credentials import Password, hashed
from forky_core.gateway.access.ways.password import ISSUER, change_password
from forky_core.model.errors import BadContent, InTheWay, NotAllowed, NotFound
from forky_core.people.access import Access
from forky_core.people.administration import Administration
from forky_core.people.members import Identity, Member
from forky_core.people.roles import Role
from forky_core.people.team import Team


def acting(team: Team, member: Member) -> Administration:
    return Administration(Access(team, member.id, lambda _conversation: ()))


OWNERS_ALONE: dict[str, Callable[[Administration, str], object]] = {
    "invite": lambda people, _bob: people.invite(Role.VIEWER),
    "invitations": lambda people, _bob: people.invitations(),
    "take back": lambda people, _bob: people.take_back("0"),
    "set a role": lambda people, bob: people.set_role(bob, Role.OWNER),
    "remove": lambda people, bob: people.remove(bob),
    "another password": lambda people, bob: people.reset_password(bob),
    "sign out": lambda people, bob: people.sign_out(bob),
    "count events": lambda people, _bob: people.events(),
    "read the log": lambda people, _bob: people.page_of_audit(1, 10),
    "export the log": lambda people, _bob: people.export_audit("csv"),
}


@pytest.mark.parametrize("what", OWNERS_ALONE)
@pytest.mark.parametrize("role", [Role.NONE, Role.VIEWER, Role.COMMENTER, Role.EDITOR])
def test_only_owners_manage_people(team: Team, ada: Member, bob: Member, role: Role, what: str) -> None:
    carol = team.members.add("Carol", Role.VIEWER)
    if role:
        team.members.set_role(carol.id, role, by=ada.id)
    else:
        team.members.remove(carol.id, by=ada.id)
    team.sessions.open(bob.id)
    before = team.audit.count()
    with pytest.raises(NotAllowed, match="Only an owner of this workspace may"):
        OWNERS_ALONE[what](acting(team, carol), bob.id)
    assert team.audit.count() == before, "nothing was done"
    assert team.members.role_of(bob.id) is Role.EDITOR and team.sessions.of(bob.id)


@pytest.mark.parametrize("what", [name for name in OWNERS_ALONE if name != "take back"])
def test_an_owner_may_do_all_of_it(team: Team, ada: Member, bob: Member, what: str) -> None:
    OWNERS_ALONE[what](acting(team, ada), bob.id)


def test_a_role_that_is_taken_away_holds_for_the_next_thing(team: Team, ada: Member, bob: Member) -> None:
    people = acting(team, ada)
    people.set_role(bob.id, Role.OWNER)
    acting(team, bob).set_role(ada.id, Role.EDITOR)
    with pytest.raises(NotAllowed):
        people.set_role(bob.id, Role.VIEWER)


def test_the_last_owner_neither_leaves_nor_steps_down(team: Team, ada: Member, bob: Member) -> None:
    people = acting(team, ada)
    for change in (people.leave, lambda: people.set_role(ada.id, Role.EDITOR), lambda: people.remove(ada.id)):
        with pytest.raises(InTheWay, match="at least one owner"):
            change()
    people.set_role(bob.id, Role.OWNER)
    people.leave()
    assert [member.id for member in team.members.all()] == [bob.id]


def test_one_ends_ones_own_sessions_only(team: Team, ada: Member, bob: Member) -> None:
    team.sessions.open(ada.id)
    (session,) = team.sessions.of(ada.id)
    with pytest.raises(NotFound):
        acting(team, bob).end_session(session.id)
    acting(team, ada).end_session(session.id)
    assert not team.sessions.of(ada.id)


def test_the_log_says_who_signed_a_removed_person_out(team: Team, ada: Member, bob: Member) -> None:
    acting(team, ada).remove(bob.id)
    last = team.audit.page(1, 2)
    assert [(entry.event, entry.person) for entry in last] == [
        ("member removed", ada.id),
        ("signed out everywhere", ada.id),
    ]
    assert team.audit.first_broken() is None


def test_a_page_of_the_log_is_newest_first(team: Team, ada: Member) -> None:
    for number in range(5):
        team.audit.note(f"event {number}", ada.id)
    total = team.audit.count()
    numbers = [entry.number for page in (1, 2, 3, 4) for entry in team.audit.page(page, 2)]
    assert numbers == list(range(total, 0, -1))


class TestChangingAPassword:
    @pytest.fixture(autouse=True)
    def _with_a_password(self, team: Team, ada: Member) -> None:
        team.members.keep_identity(ada.id, Identity(ISSUER, "ada", hashed("correct horse")))

    def test_it_ends_every_other_session(self, team: Team, ada: Member) -> None:
        team.sessions.open(ada.id)
        (here,) = team.sessions.of(ada.id)
        team.sessions.open(ada.id)
        change_password(team, ada.id, "correct horse", "battery staple", keep=here.id)
        assert team.sessions.of(ada.id) == [here]
        (identity,) = team.members.identities(ada.id)
        assert Password(identity.secret).fits("battery staple")

    def test_many_wrong_ones_are_refused_without_a_look(self, team: Team, ada: Member) -> None:
        for _ in range(5):
            with pytest.raises(BadContent, match="not your password now"):
                change_password(team, ada.id, "wrong horse", "battery staple")
        with pytest.raises(BadContent, match="Too many attempts"):
            change_password(team, ada.id, "correct horse", "battery staple")

    def test_whoever_has_none_changes_none(self, team: Team, bob: Member) -> None:
        with pytest.raises(BadContent, match="do not sign in with a password"):
            change_password(team, bob.id, "", "battery staple")
