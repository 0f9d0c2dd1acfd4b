"""A team: the people of one workspace and everything that is kept about them, opened from one file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from forky_core.team.audit import Audit
from forky_core.team.database import TeamDatabase, now
from forky_core.team.files import SharedFiles
from forky_core.team.invitations import Invitations
from forky_core.team.members import Members
from forky_core.team.protection import Protections
from forky_core.team.roles import Role
from forky_core.team.sharing import Sharing
from forky_core.team.team_sessions import TeamSessions

WORKSPACE = "main"
"""The workspace that a server opens."""


class Team:
    """The people of a workspace. Safe from any thread; close it."""

    def __init__(self, location: Path | None, *, clock: Callable[[], int] = now) -> None:
        """Open the file of a team, or make it; None keeps it in memory. Raises StoreError if it cannot be opened."""
        self.database = TeamDatabase(location)
        self.audit = Audit(self.database)
        self.members = Members(self.database, self.audit, WORKSPACE)
        self.sessions = TeamSessions(self.database, self.audit, clock=clock)
        self.invitations = Invitations(self.database, self.audit, WORKSPACE, clock=clock)
        self.sharing = Sharing(self.database, self.audit, self.members, WORKSPACE)
        self.protections = Protections(self.database, self.audit, WORKSPACE)
        self.files = SharedFiles(self.database, WORKSPACE)
        self.members.removed = lambda member, by: self.sessions.end_all(member, by=by)

    def close(self) -> None:
        self.database.close()

    def first_owners_invitation(self) -> str | None:
        """The secret of an invitation for the first owner; None if there is an owner.

        Each call takes the invitation of the call before back, so that only what was printed last opens the door.
        """
        with self.database.writing():
            if self.members.has_owner:
                return None
            for invitation in self.invitations.all():
                if not invitation.made_by:
                    self.invitations.revoke(invitation.id, by="")
            return self.invitations.make(Role.OWNER, days=1)[1]


def team_file(database: Path) -> Path:
    """Where the people of a database of conversations are kept: beside it."""
    return database.with_name(f"{database.stem}.people.sqlite")
