"""Who comes in: what invitations, the operator's rules and former memberships do to a proof."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from forky_core.model.errors import NotAllowed, NotFound
from forky_core.people.admission import Proof, admit
from forky_core.people.members import Identity
from forky_core.people.roles import Role
from forky_core.people.team import Team


@pytest.fixture
def team() -> Iterator[Team]:
    one = Team(None)
    one.members.add("Owner", Role.OWNER)
    yield one
    one.close()


def proof(role: Role | None = None, newcomer: Role | None = None) -> Proof:
    return Proof("oidc", Identity("https://id.example", "ada"), "Ada", role=role, newcomer=newcomer)


def test_the_role_for_newcomers_changes_nothing_for_a_member(team: Team) -> None:
    ada = admit(team, proof(newcomer=Role.VIEWER))
    assert ada.role is Role.VIEWER
    team.members.set_role(ada.id, Role.EDITOR, by=ada.id)
    assert admit(team, proof(newcomer=Role.VIEWER)) == team.members.member(ada.id)
    assert team.members.role_of(ada.id) is Role.EDITOR


def test_the_rules_hold_at_every_sign_in(team: Team) -> None:
    ada = admit(team, proof(role=Role.EDITOR))
    assert admit(team, proof(role=Role.COMMENTER)).role is Role.COMMENTER
    team.sessions.open(ada.id)
    with pytest.raises(NotAllowed, match="no role here"):
        admit(team, proof(role=Role.NONE))
    assert team.members.role_of(ada.id) is Role.NONE, "The refusal does not take the removal back."
    assert not team.sessions.of(ada.id)
    assert admit(team, proof(role=Role.VIEWER)).id == ada.id


def test_the_last_owner_stays_whatever_the_rules_say() -> None:
    team = Team(None)
    owner = admit(team, proof(role=Role.OWNER))
    for role in (Role.NONE, Role.VIEWER):
        assert admit(team, proof(role=role)) == owner
    team.close()


def test_an_invitation_is_not_used_up_by_whom_the_rules_keep_out(team: Team) -> None:
    invitation, secret = team.invitations.make(Role.EDITOR)
    with pytest.raises(NotAllowed):
        admit(team, proof(role=Role.NONE), secret)
    assert [one.id for one in team.invitations.all()] == [invitation.id]
    assert admit(team, proof(newcomer=Role.VIEWER), secret).role is Role.EDITOR
    with pytest.raises(NotFound):
        admit(team, Proof("oidc", Identity("https://id.example", "bo"), "Bo"), secret)


def test_who_has_left_comes_back_by_the_invitation_at_which_they_sign_in(team: Team) -> None:
    ada = admit(team, proof(newcomer=Role.EDITOR))
    team.members.remove(ada.id, by="")
    with pytest.raises(NotAllowed, match="not a member here"):
        admit(team, proof())
    with pytest.raises(NotFound, match="not open"):
        admit(team, proof(), on_the_way="something else")
    _, secret = team.invitations.make(Role.COMMENTER)
    back = admit(team, proof(), on_the_way=secret)
    assert (back.id, back.role) == (ada.id, Role.COMMENTER)
    assert team.invitations.all() == []
    team.members.remove(ada.id, by="")
    with pytest.raises(NotFound, match="not open"):
        admit(team, proof(), on_the_way=secret)


def test_a_member_or_somebody_new_uses_up_no_invitation_on_the_way(team: Team) -> None:
    _, secret = team.invitations.make(Role.OWNER)
    with pytest.raises(NotAllowed, match="knows you"):
        admit(team, proof(), on_the_way=secret)
    ada = admit(team, proof(newcomer=Role.VIEWER))
    assert admit(team, proof(), on_the_way=secret) == ada
    assert len(team.invitations.all()) == 1
