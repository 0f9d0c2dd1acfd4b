"""Changes that one member makes to the people of the workspace. Every method checks their role first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from forky_core.model.errors import NotAllowed, NotFound
from forky_core.people import team_file
from forky_core.people.access import Access
from forky_core.people.account import reset_link
from forky_core.people.audit import EVERYTHING, AuditEntry, AuditFilter
from forky_core.people.audit_report import KINDS, OTHER, as_csv, as_json_lines, kind_of, sentence
from forky_core.people.former_workspaces import former_workspaces
from forky_core.people.invitations import DAYS, Invitation
from forky_core.people.look_alikes import look_alikes
from forky_core.people.members import Identity, Member
from forky_core.people.roles import Role
from forky_core.people.team import WORKSPACE
from forky_core.people.team_sessions import TeamSession


class Administration:
    """The people of a workspace as one member may see and change them.

    What their role does not allow raises NotAllowed. Members see each other; only owners invite, change roles, remove
    somebody and read the audit log.
    """

    def __init__(self, access: Access) -> None:
        """`access` is that of the member who acts."""
        self.team = access.team
        self._access = access

    @property
    def me(self) -> Member:
        return self._access.member

    @property
    def owns(self) -> bool:
        """Whether the member is an owner of the workspace."""
        return self._access.role is Role.OWNER

    def may_reach(self, member: str) -> bool:
        """Whether the member may act on a person's whole account: sign them out, have them choose another password, or
        delete it.

        Owners may. Where servers with other workspaces keep their people in the same database, those who are members
        there, too, are left to the owners of `WORKSPACE`.
        """
        return self.owns and (self.team.workspace == WORKSPACE or not self.team.members.is_elsewhere(member))

    # Oneself.

    @property
    def is_last_owner(self) -> bool:
        """Whether nobody else is an owner of the workspace, so that they cannot leave it."""
        return [member.id for member in self.members() if member.role is Role.OWNER] == [self.me.id]

    def rename(self, name: str) -> None:
        """Take another name, everywhere and at once. Raises BadName for one that cannot be used."""
        self.team.members.rename(self._access.id, name)

    def leave(self) -> None:
        """End one's own membership. Raises InTheWay for the last owner."""
        self.team.members.remove(self._access.id, by=self._access.id)

    def may_forget(self, member: str) -> None:
        """Raise NotAllowed unless the member may delete this person's account. Everybody may delete their own."""
        if member != self._access.id:
            self._require_reach(member, "have somebody forgotten")

    def sessions(self) -> Sequence[TeamSession]:
        """The browsers in which the member is signed in, the last used first."""
        return self.team.sessions.of(self._access.id)

    def end_session(self, id: str) -> None:
        """Sign one of the member's browsers out. Raises NotFound if none of theirs has this id."""
        with self.team.database.writing():
            if id not in {session.id for session in self.sessions()}:
                raise NotFound("That session has ended already.")
            self.team.sessions.end(id, by=self._access.id)

    def end_other_sessions(self, keep: str) -> None:
        """Sign all of the member's browsers out but the one whose session has the id `keep`."""
        self.team.sessions.end_all(self._access.id, by=self._access.id, keep=keep)

    def ways_in(self) -> Sequence[Identity]:
        """The ways in which the member can prove who they are, the oldest first."""
        return self.team.members.identities(self._access.id)

    def drop_way_in(self, issuer: str, subject: str) -> None:
        """Remove one of the member's ways to sign in.

        Raises:
            NotFound: they have no such one.
            InTheWay: it is the only one.
        """
        self.team.members.drop_identity(self._access.id, issuer, subject)

    # The others.

    def members(self) -> Sequence[Member]:
        """All current members; those who have been here longest come first."""
        self._access.require(Role.VIEWER, "see who is here")
        return self.team.members.all()

    def look_alikes(self) -> Mapping[str, Member]:
        """For each member whose name looks like that of a longer-standing member: that member. By id."""
        return look_alikes(self.members())

    def set_role(self, member: str, role: Role) -> None:
        """Give somebody another role.

        Raises:
            NotFound: they are not a member.
            InTheWay: they are the last owner.
        """
        with self.team.database.writing():
            self._access.require(Role.OWNER, "change roles")
            self.team.members.set_role(member, role, by=self._access.id)

    def remove(self, member: str) -> None:
        """End somebody's membership, and every session of theirs.

        Raises:
            NotFound: they are not a member.
            InTheWay: they are the last owner.
        """
        with self.team.database.writing():
            self._access.require(Role.OWNER, "remove somebody")
            self.team.members.remove(member, by=self._access.id)

    def sign_out(self, member: str) -> None:
        """End every session of somebody. Raises NotFound if they are not a member."""
        with self.team.database.writing():
            self._require_reach(member, "sign somebody else out")
            if not self.team.members.role_of(member):
                raise NotFound("That person is not a member.")
            self.team.sessions.end_all(member, by=self._access.id)

    def reset_password(self, member: str) -> str:
        """The secret of a link by which somebody chooses another password, once; it is not stored.

        Raises NotFound if they are not a member.
        """
        with self.team.database.writing():
            self._require_reach(member, "have a password chosen anew")
            return reset_link(self.team, member, by=self._access.id)

    # The workspace.

    def file_beside(self, database: Path) -> Path:
        """Where the people of a file of conversations are kept."""
        return team_file(database)

    def former_workspaces(self, database: Path | str) -> str | None:
        """A text that names the other workspaces of earlier versions (`former_workspaces`); None if there are none."""
        return former_workspaces(self.team, database)

    # Invitations.

    def invitations(self) -> Sequence[Invitation]:
        """The open invitations, newest first."""
        self._access.require(Role.OWNER, "see invitations")
        return self.team.invitations.all()

    def invite(
        self, role: Role, *, email: str = "", days: int = DAYS, uses: int = 1
    ) -> tuple[Invitation, str]:
        """Make an invitation; returns it with its secret, which is not stored.

        Raises:
            BadContent: the address, the days or the number of uses make no sense.
        """
        with self.team.database.writing():
            self._access.require(Role.OWNER, "invite people")
            return self.team.invitations.make(role, by=self._access.id, email=email, days=days, uses=uses)

    def take_back(self, invitation: str) -> None:
        """Take an invitation back. Raises NotFound if there is none with this id."""
        with self.team.database.writing():
            self._access.require(Role.OWNER, "take invitations back")
            self.team.invitations.revoke(invitation, by=self._access.id)

    # The audit log.

    def events(self, wanted: AuditFilter = EVERYTHING) -> int:
        """The number of entries of the audit log."""
        self._access.require(Role.OWNER, "read the audit log")
        return self.team.audit.count(wanted)

    def page_of_audit(self, page: int, size: int, wanted: AuditFilter = EVERYTHING) -> Sequence[AuditEntry]:
        """A page of the audit log, newest first; the first one is 1."""
        self._access.require(Role.OWNER, "read the audit log")
        return self.team.audit.page(page, size, wanted)

    def sentence(self, entry: AuditEntry, title_of: Callable[[str], str]) -> str:
        """An entry of the audit log as a sentence; `title_of` is how the member may read of a conversation's id."""
        return sentence(entry, self.team.members.full_name_of, title_of)

    def kinds_of_events(self) -> Mapping[str, tuple[str, ...]]:
        """The events that the audit log has entries of, grouped by kind."""
        self._access.require(Role.OWNER, "read the audit log")
        found: dict[str, tuple[str, ...]] = {}
        for event in sorted(self.team.audit.events()):
            kind = kind_of(event)
            found[kind] = (*found.get(kind, ()), event)
        return {kind: found[kind] for kind in (*KINDS, OTHER) if kind in found}

    def export_audit(self, form: Literal["csv", "jsonl"]) -> Iterator[bytes]:
        """The whole audit log, oldest first, as a table or as one JSON object a line. It gets an entry about that."""
        with self.team.database.writing():
            self._access.require(Role.OWNER, "export the audit log")
            self.team.audit.note("audit log exported", self._access.id)
            entries = self.team.audit.within()
        return (as_csv if form == "csv" else as_json_lines)(entries, self.team.members.name_of)

    def _require_reach(self, member: str, what: str) -> None:
        """Raise NotAllowed unless the member may do what reaches this person in every workspace (`may_reach`)."""
        self._access.require(Role.OWNER, what)
        if not self.may_reach(member):
            raise NotAllowed(
                f"This person is in another workspace, too, and only an owner of “{WORKSPACE}” may {what}.",
                "Ask whoever runs this Forky.",
            )
