"""A team: the people of one workspace and everything that is kept about them, opened from one file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from forky_core.team.audit import Audit
from forky_core.team.database import TeamDatabase, now
from forky_core.team.files import SharedFiles
from forky_core.team.invitations import Invitations
from forky_core.team.members import Members
from forky_core.team.roles import Role
from forky_core.team.sharing import Sharing
from forky_core.team.spending.team_spending import TeamSpending, usual_key_file
from forky_core.team.team_sessions import TeamSessions

WORKSPACE = "main"
"""The workspace that a server opens."""


class Team:
    """The people of a workspace. Safe from any thread; close it."""

    def __init__(
        self, location: Path | None, *, key_file: Path | None = None, clock: Callable[[], int] = now
    ) -> None:
        """Open the file of a team, or make it; None keeps it in memory. Raises StoreError if it cannot be opened.

        `key_file` has the key that encrypts providers' keys; None: it is beside the file of the team.
        """
        self.database = TeamDatabase(location)
        self.audit = Audit(self.database)
        self.members = Members(self.database, self.audit, WORKSPACE)
        self.sessions = TeamSessions(self.database, self.audit, clock=clock)
        self.invitations = Invitations(self.database, self.audit, WORKSPACE, clock=clock)
        self.sharing = Sharing(self.database, self.audit, self.members, WORKSPACE)
        self.files = SharedFiles(self.database, WORKSPACE)
        if key_file is None and location is not None:
            key_file = usual_key_file(location)
        self.spending = TeamSpending(
            self.database, self.audit, self.members, WORKSPACE, key_file=key_file, clock=clock
        )
        self.members.removed = self._removed

    def close(self) -> None:
        self.spending.close()
        self.database.close()

    def _removed(self, member: str, by: str) -> None:
        """End what a person had who stops being a member."""
        self.sessions.end_all(member, by=by)
        self.spending.keys.drop_all(member)

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
