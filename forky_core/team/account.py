"""What a person changes about how they get in: another password by a link, another address, proof asked for anew.

An address lets somebody in when it is one of their identities, of the issuer `MAIL`: then links that are sent to it
sign them in and give them another password. It becomes one by being confirmed and by nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forky_core.model.errors import BadContent, NameTaken, NotAllowed, NotFound
from forky_core.team.members import Identity, Member, fit_email
from forky_core.team.one_time_links import NOT_OPEN

if TYPE_CHECKING:
    from forky_core.team.admission import Proof
    from forky_core.team.team import Team

MAIL = "mail"
"""The issuer of an identity whose subject is an address of e-mail."""
PASSWORD = "password"  # noqa: S105 - the name of an issuer
GONE = "Passkeys let nobody in any more. Ask whoever runs this Forky for a link with which you choose a password."
"""For somebody who had no other way to sign in."""
PROVED_FOR = 10
"""Minutes for which a proof of who somebody is counts, when they change how they get in."""
OWNERS_HOURS = 24
"""Hours for which a link to another password holds that an owner or the operator has made."""
RESET_MINUTES = 60
"""Minutes for which one holds that somebody asked for by mail."""
CONFIRM_MINUTES = 60
_MICRO_MINUTE = 60 * 1_000_000


class ProofNeeded(NotAllowed):
    """Something asks for a proof of who somebody is from the last minutes."""


def member_at(team: Team, address: str) -> Member | None:
    """The member whom links to this address let in; None if there is none."""
    known = team.members.by_identity(MAIL, address)
    return known[0] if known is not None and known[0].role else None


def has_identity(team: Team, member: str, issuer: str) -> bool:
    """Whether a person has an identity of this issuer."""
    return any(identity.issuer == issuer for identity in team.members.identities(member))


# Proof.


def proves_anew(team: Team, member: str, proof: Proof) -> bool:
    """Whether a proof is good enough to change how somebody gets in.

    A password is. Where somebody has none, a link by mail is, and an identity provider that was told to ask again. A
    proxy's header never is: nobody was asked.
    """
    if proof.identity.issuer == PASSWORD:
        return True
    return proof.asked_again and not has_identity(team, member, PASSWORD)


def has_proved(team: Team, session: str) -> bool:
    """Whether the person of a session has proved who they are within the last `PROVED_FOR` minutes."""
    return team.sessions.proved(session, within=PROVED_FOR * _MICRO_MINUTE)


def require_proof(team: Team, session: str) -> None:
    """Raises ProofNeeded if the person of a session has not proved lately who they are."""
    if not has_proved(team, session):
        raise ProofNeeded("This asks who you are once more.", "Sign in again first, in this browser.")


# Another password.


def reset_link(team: Team, member: str, *, by: str) -> str:
    """The secret of a link by which a member chooses another password. `by` is the owner who has it made, "" for the
    operator.

    Raises NotFound if they are not a member.
    """
    with team.database.writing():
        if not team.members.role_of(member):
            raise NotFound("That person is not a member.")
        secret = team.links.make(member, "reset", minutes=OWNERS_HOURS * 60, by=by)
        team.audit.note("password reset offered", by, member=member)
    return secret


def mailed_reset_link(team: Team, address: str) -> str:
    """The secret of such a link for whom this address lets in; "" if it lets nobody in, or nobody with a password."""
    with team.database.writing():
        member = member_at(team, address)
        if member is None or not has_identity(team, member.id, PASSWORD):
            return ""
        secret = team.links.make(member.id, "reset", minutes=RESET_MINUTES)
        team.audit.note("password reset mailed", member=member.id)
    return secret


def reset_password(team: Team, secret: str, hash: str) -> tuple[Member, Identity]:
    """Use such a link: the person gets the password of this hash, and every session of theirs ends.

    Raises NotFound if the link is not open, or if they are no longer a member.
    """
    with team.database.writing():
        member = team.members.member(team.links.take(secret, "reset").person)
        if not member.role:
            raise NotFound(NOT_OPEN, "Ask for a new one.")
        known = [one for one in team.members.identities(member.id) if one.issuer == PASSWORD]
        identity = Identity(PASSWORD, known[0].subject if known else member.handle, hash)
        team.members.keep_identity(member.id, identity)
        team.sessions.end_all(member.id, by=member.id)
        team.audit.note("password reset", member.id, member=member.id)
    return member, identity


# Another address.


def address_link(team: Team, member: str, session: str, address: str) -> tuple[str, str]:
    """The address as it is stored, and the secret of a link that confirms it as this member's.

    Raises:
        ProofNeeded: they have not proved lately who they are.
        BadContent: it is no address.
        NameTaken: links to it let somebody else in.
    """
    fit = fit_email(address)
    if not fit:
        raise BadContent("Write the address.")
    require_proof(team, session)
    known = team.members.by_identity(MAIL, fit)
    if known is not None and known[0].id != member:
        raise NameTaken("That address belongs to somebody else here.")
    return fit, team.links.make(member, "confirm", minutes=CONFIRM_MINUTES, about=fit, by=member)


def confirm_address(team: Team, secret: str, member: str) -> str:
    """Use such a link as the member who is signed in; returns the address that they had before, "" for none.

    Raises:
        NotFound: the link is not open, or is somebody else's.
        NameTaken: links to this address let somebody else in by now.
    """
    with team.database.writing():
        link = team.links.find(secret, "confirm")
        if link is None or link.person != member:
            raise NotFound(NOT_OPEN, "Ask for a new one.")
        team.links.take(secret, "confirm")
        former = team.members.member(member).email
        team.members.set_address(member, link.about)
    return former if former != link.about else ""
