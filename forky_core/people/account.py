"""How a person changes their ways to sign in: another password by a link, and a new proof of who they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forky_core.model.errors import NotAllowed, NotFound
from forky_core.people.members import Identity
from forky_core.people.one_time_links import NOT_OPEN

if TYPE_CHECKING:
    from forky_core.people.admission import Proof
    from forky_core.people.team import Team

PASSWORD = "password"  # noqa: S105 - the name of an issuer
GONE = (
    "Passkeys and links by mail let nobody in any more. Ask whoever runs this Forky for a link with which you choose a "
    "password."
)
"""For somebody who had no other way to sign in."""
FORGOTTEN = "Forgotten your password? Whoever runs this Forky makes you a link to another one."
PROVED_FOR = 10
"""Minutes for which a proof of who somebody is counts, when they change how they get in."""
OWNERS_HOURS = 24
"""Hours for which a link to another password holds that an owner or the operator has made."""
_MICRO_MINUTE = 60 * 1_000_000


def has_identity(team: Team, member: str, issuer: str) -> bool:
    """Whether a person has an identity of this issuer."""
    return any(identity.issuer == issuer for identity in team.members.identities(member))


# Proof.


def proves_anew(team: Team, member: str, proof: Proof) -> bool:
    """Whether a proof of identity is strong enough to change how a person signs in.

    A password is. Where somebody has none, an identity provider that was told to ask again is. A proxy's header never
    is: nobody was asked.
    """
    if proof.identity.issuer == PASSWORD:
        return True
    return proof.asked_again and not has_identity(team, member, PASSWORD)


def has_proved(team: Team, session: str) -> bool:
    """Whether the person of a session has proved who they are within the last `PROVED_FOR` minutes."""
    return team.sessions.proved(session, within=PROVED_FOR * _MICRO_MINUTE)


def require_proof(team: Team, session: str) -> None:
    """Raises NotAllowed if the person of a session has not proved lately who they are."""
    if not has_proved(team, session):
        raise NotAllowed("This asks who you are once more.", "Sign in again first, in this browser.")


# Another password.


def reset_link(team: Team, member: str, *, by: str) -> str:
    """The secret of a link by which a member chooses another password. `by` is the owner who has it made, "" for the
    operator.

    Raises NotFound if they are not a member.
    """
    with team.database.writing():
        if not team.members.role_of(member):
            raise NotFound("That person is not a member.")
        secret = team.links.make(member, minutes=OWNERS_HOURS * 60, by=by)
        team.audit.note("password reset offered", by, member=member)
    return secret


def reset_password(team: Team, secret: str, hash: str) -> Identity:
    """Use such a link: the person gets the password of this hash, and every session of theirs ends.

    Raises NotFound if the link is not open, or if they are no longer a member.
    """
    with team.database.writing():
        member = team.members.member(team.links.take(secret).person)
        if not member.role:
            raise NotFound(NOT_OPEN, "Ask for a new one.")
        known = [one for one in team.members.identities(member.id) if one.issuer == PASSWORD]
        identity = Identity(PASSWORD, known[0].subject if known else member.handle, hash)
        team.members.keep_identity(member.id, identity)
        team.sessions.end_all(member.id, by=member.id)
        team.audit.note("password reset", member.id, member=member.id)
    return identity
