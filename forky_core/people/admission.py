"""Decides whether a person who has proved who they are may come in, and as which member.

Every way to sign in ends here, so that invitations, roles and refusals are the same for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from forky_core.model.errors import InTheWay, NotAllowed
from forky_core.people.invitations import Invitation
from forky_core.people.members import Identity, Member
from forky_core.people.roles import Role
from forky_core.people.team import Team


@dataclass(frozen=True, slots=True)
class Proof:
    """The identity of a person, as a way to sign in has established it."""

    way: str
    """The way's name, for the audit log."""
    identity: Identity
    name: str = ""
    """What the person is called there."""
    handle: str = ""
    """The handle they asked for; "" has one made from the name."""
    email: str = ""
    """An address that the issuer has verified; "" if there is none."""
    role: Role | None = None
    """The role that the operator's rules give to this person at every sign-in; `Role.NONE` ends their membership, and
    None says nothing."""
    newcomer: Role | None = None
    """The role with which the operator lets in whoever is new; it changes nothing for a member."""
    asked_again: bool = False
    """Whether the person was asked just now, and did not come by an earlier sign-in at the issuer."""


def admit(team: Team, proof: Proof, invitation: str = "", *, on_the_way: str = "") -> Member:
    """Return the member to whom a proof belongs. Somebody new becomes one by an open invitation or by the operator's
    rules.

    `invitation` is the secret of an invitation. `on_the_way` is that of one which they would accept once they are
    signed in: whoever was a member and is none any more comes back by it.

    Raises:
        NotAllowed: nobody here has this identity, and nothing lets it in; or the operator's rules keep them out.
        NotFound: the invitation is not open, or is for another address.
        BadName, BadContent, NameTaken: the name or handle of a new member cannot be used.
    """
    with team.database.writing():
        member = _let_in(team, proof, invitation, on_the_way)
    # A refusal from within would take back that a membership ended.
    if not member.role:
        raise _without_role()
    return member


def _let_in(team: Team, proof: Proof, invitation: str, on_the_way: str) -> Member:
    identity = proof.identity
    known = team.members.by_identity(identity.issuer, identity.subject)
    member = known[0] if known is not None else None
    if member is not None and member.role:
        if proof.role is not None and proof.role is not member.role:
            member = _with_role(team, member, proof.role)
        return member
    if proof.role is Role.NONE:
        raise _without_role()
    role = proof.role or proof.newcomer
    accepted = _accept(team, proof, member, invitation, "" if role else on_the_way)
    role = accepted.role if accepted is not None else role
    if not role:
        raise NotAllowed(
            "Nobody here knows you." if member is None else "You are not a member here.",
            "Ask somebody who is for an invitation.",
        )
    if member is not None:
        team.members.bring_back(member.id, role)
    else:
        member = _add(team, proof, role)
    if accepted is not None:
        team.invitations.note_accepted(accepted, member.id)
    return team.members.member(member.id)


def _accept(
    team: Team, proof: Proof, member: Member | None, invitation: str, on_the_way: str
) -> Invitation | None:
    """The invitation by which somebody comes in, now used; None where they have none."""
    if invitation:
        return team.invitations.accept(invitation, email=proof.email)
    if member is not None and on_the_way:
        return team.invitations.accept(on_the_way, email=proof.email or member.email)
    return None


def _add(team: Team, proof: Proof, role: Role) -> Member:
    """Somebody new, with the identity that they proved."""
    name = proof.name or proof.identity.subject
    added = team.members.add(name, role, handle=proof.handle, email=proof.email)
    team.members.keep_identity(added.id, proof.identity)
    return added


def _without_role() -> NotAllowed:
    return NotAllowed("Your account there gives you no role here.", "Ask whoever runs this Forky.")


def _with_role(team: Team, member: Member, role: Role) -> Member:
    try:
        if role:
            team.members.set_role(member.id, role, by=member.id)
        else:
            team.members.remove(member.id, by=member.id)
    except InTheWay:  # The last owner stays one, whatever the operator's rules say.
        return member
    return team.members.member(member.id)
