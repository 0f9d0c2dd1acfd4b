"""Invitations: links by which a number of people can become members until they expire.

The first owner comes in by one, too: it is printed when a team without an owner starts.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forky_core.model.errors import BadContent, NotFound
from forky_core.people.audit import Audit
from forky_core.people.database import TeamDatabase, digest_of, now
from forky_core.people.members import fit_email
from forky_core.people.roles import Role

DAYS = 7
"""Days until an invitation expires, if nobody says otherwise."""
MOST_DAYS = 90
MOST_USES = 1_000
NOT_OPEN = "This invitation is not open: it was used, has expired, or was taken back."
_DAY = 24 * 3600 * 1_000_000


@dataclass(frozen=True, slots=True)
class Invitation:
    """An open invitation."""

    id: str
    role: Role
    """The role of whoever accepts it."""
    email: str
    """The only address it is for; "" if it is for anybody who has it."""
    made_by: str
    """The id of the person who invites; "" for the one that is printed at the start."""
    created: int
    """Microseconds since the epoch, UTC."""
    expires: int
    uses: int
    """How many people may accept it …"""
    used: int
    """… and how many have."""


class Invitations:
    """The invitations to one workspace."""

    def __init__(
        self, database: TeamDatabase, audit: Audit, workspace: str, *, clock: Callable[[], int] = now
    ) -> None:
        """`clock` returns microseconds since the epoch, UTC."""
        self._database = database
        self._audit = audit
        self._workspace = workspace
        self._clock = clock

    def make(
        self, role: Role, *, by: str = "", email: str = "", days: int = DAYS, uses: int = 1
    ) -> tuple[Invitation, str]:
        """Make an invitation; returns it with its secret, which is not stored.

        Raises:
            BadContent: the address, the days or the number of uses make no sense.
        """
        if not 1 <= days <= MOST_DAYS:
            raise BadContent(f"An invitation holds for 1 to {MOST_DAYS} days.")
        if not 1 <= uses <= MOST_USES:
            raise BadContent(f"An invitation is for 1 to {MOST_USES} people.")
        address = fit_email(email)
        if address and uses > 1:
            raise BadContent("An invitation to one address is for one person.")
        secret, id, moment = secrets.token_urlsafe(32), secrets.token_hex(6), self._clock()
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO invitations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
                (
                    digest_of(secret),
                    id,
                    self._workspace,
                    role.value,
                    address,
                    by,
                    moment,
                    moment + days * _DAY,
                    uses,
                ),
            )
            self._audit.note("invitation made", by, invitation=id, role=role.word, uses=uses)
        return Invitation(id, role, address, by, moment, moment + days * _DAY, uses, 0), secret

    def open(self, secret: str) -> Invitation | None:
        """The invitation of a secret; None if it is used up, expired, taken back, or never existed."""
        found = self._select("digest = ?", digest_of(secret))
        return found[0] if found else None

    def all(self) -> Sequence[Invitation]:
        """The open invitations, newest first."""
        return self._select("1 = 1")

    def accept(self, secret: str, *, email: str = "") -> Invitation:
        """Use an invitation once. Call it within the transaction that adds the member, and `note_accepted` there.

        `email` is the address that the person has proved; one that is bound to an address is open to that one only.

        Raises:
            NotFound: it is not open, or not for this address.
        """
        with self._database.writing() as connection:
            invitation = self.open(secret)
            if invitation is None:
                raise NotFound(NOT_OPEN, "Ask for a new one.")
            if invitation.email and invitation.email != email.strip().lower():
                raise NotFound("This invitation is for another address.", "Ask for one of your own.")
            connection.execute(
                "UPDATE invitations SET used = used + 1 WHERE digest = ?", (digest_of(secret),)
            )
        return invitation

    def note_accepted(self, invitation: Invitation, member: str) -> None:
        """Record in the audit log who came in by an invitation, and whose it was."""
        inviter = {"member": invitation.made_by} if invitation.made_by else {}
        self._audit.note("invitation accepted", member, invitation=invitation.id, **inviter)

    def revoke(self, id: str, *, by: str) -> None:
        """Take an invitation back. Raises NotFound if there is none with this id."""
        with self._database.writing() as connection:
            here = "DELETE FROM invitations WHERE id = ? AND workspace = ?"
            if not connection.execute(here, (id, self._workspace)).rowcount:
                raise NotFound("There is no such invitation.")
            self._audit.note("invitation taken back", by, invitation=id)

    def _select(self, where: str, *values: bytes) -> list[Invitation]:
        rows = self._database.rows(
            "SELECT id, role, email, made_by, created, expires, uses, used FROM invitations "  # noqa: S608 - two fixed texts
            f"WHERE {where} AND workspace = ? AND expires > ? AND used < uses ORDER BY created DESC",
            *values,
            self._workspace,
            self._clock(),
        )
        return [Invitation(id, Role(role), *rest) for id, role, *rest in rows]
