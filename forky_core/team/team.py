"""A team: the people of a workspace and everything that is kept about them, opened from one file.

The file keeps the people of all workspaces of a server. `Team` opens it and is the team of the first workspace;
`Team.of` is that of another one, over the same file.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from copy import copy
from functools import partial
from pathlib import Path

from forky_core.model import ConversationId
from forky_core.model.erasure import Passages
from forky_core.model.errors import NotFound
from forky_core.team.allowances import Allowances
from forky_core.team.attempts import AttemptKind, Attempts, TeamAttempts
from forky_core.team.audit import Audit
from forky_core.team.database import TeamDatabase, now
from forky_core.team.files import SharedFiles
from forky_core.team.inbox import Inbox
from forky_core.team.invitations import Invitations
from forky_core.team.kept_drafts import KeptDrafts
from forky_core.team.last_seen import LastSeen
from forky_core.team.members import Members
from forky_core.team.one_time_links import OneTimeLinks
from forky_core.team.people_file import PeopleFile
from forky_core.team.refused_requests import RefusedRequests
from forky_core.team.roles import Role
from forky_core.team.sharing import Sharing
from forky_core.team.team_sessions import TeamSessions
from forky_core.team.team_workspaces import NO_WORKSPACE, WORKSPACE, TeamWorkspaces
from forky_core.team.threads import Threads

__all__ = ["WORKSPACE", "Team", "people_beside", "team_file"]

_NOTHING_SAID = frozenset(
    {
        "attempts",
        "audit",
        "conversations",
        "given_files",
        "identities",
        "invitations",
        "members",
        "named_files",
        "people",
        "sessions",
        "shares",
    }
)
"""Tables without any text of a conversation."""


class Team:
    """The people of a workspace. Safe from any thread; close it."""

    def __init__(
        self,
        location: Path | str | None,
        *,
        clock: Callable[[], int] = now,
        audit_days: int = 0,
    ) -> None:
        """Open the people of a team, or make them: in a file, or in a PostgreSQL database by its URL; None: in memory.

        `audit_days` says how long the audit log keeps an entry; 0: for ever.
        """
        self.database = _people(location)
        audit = Audit(self.database, days=audit_days, clock=clock)
        self.sessions = TeamSessions(self.database, audit, clock=clock)
        self.links = OneTimeLinks(self.database, clock=clock)
        self.attempts: Callable[[AttemptKind], Attempts] = partial(TeamAttempts, self.database, clock)
        """The failed attempts of a kind."""
        self.workspaces = TeamWorkspaces(self.database, audit)
        self.first = self
        """The team of the first workspace."""
        self._clock = clock
        self._audit_days = audit_days
        self.changed: Callable[[str, str], None] = lambda _workspace, _id: None
        """Called with a workspace, and the id of a person whose notices have changed in it or of a conversation whose
        threads have; only that of the first team is."""
        self._teams = {WORKSPACE: self}
        self._lock = threading.Lock()
        self._keep(WORKSPACE)

    def _keep(self, workspace: str) -> None:
        """Make what is kept about one workspace."""
        self.workspace = workspace
        """The id of the workspace."""
        self.audit = Audit(
            self.database,
            "" if workspace == WORKSPACE else workspace,
            days=self._audit_days,
            clock=self._clock,
        )
        self.members = Members(self.database, self.audit, workspace)
        self.invitations = Invitations(self.database, self.audit, workspace, clock=self._clock)
        self.sharing = Sharing(self.database, self.audit, self.members, workspace)
        self.files = SharedFiles(self.database, workspace)
        self.threads = Threads(self.database, workspace, self._clock)
        self.inbox = Inbox(self.database, self.members, self.sharing, workspace)
        self.seen = LastSeen(self.database, workspace)
        self.drafts = KeptDrafts(self.database, workspace)
        self.refused = RefusedRequests(self.audit)
        """The requests that were refused because somebody sends too many, or the server cannot answer them."""
        self.allowances = Allowances(self.database, self.audit, self.members, workspace, self._clock)
        self.members.removed = self._removed
        self.audit.noted = self.inbox.note_audited
        self.sharing.dropped = self._forget
        self.inbox.changed = lambda person: self.first.changed(workspace, person)
        self.threads.changed = lambda conversation: self.first.changed(workspace, conversation)
        self.threads.forget_deleted()

    def of(self, workspace: str) -> Team:
        """The team of a workspace of this server, by its id. Raises NotFound if there is none, or it is archived."""
        if not self.workspaces.is_open(workspace):
            raise NotFound(NO_WORKSPACE)
        with self._lock:
            found = self._teams.get(workspace)
            if found is None:
                found = copy(self.first)
                found._keep(workspace)
                self._teams[workspace] = found
        return found

    def count_refusal(self, workspace: str, reason: str, person: str) -> None:
        """Count a refused request for the audit log, in the workspace with this id if it is in use here, else in the
        first one. The database is not asked, since it may be the reason.
        """
        self._teams.get(workspace, self.first).refused.count(reason, person)

    def close(self) -> None:
        for team in tuple(self._teams.values()):
            team.refused.close()
        self.database.close()

    def _removed(self, member: str, by: str) -> None:
        """End what a person had who stops being a member, and their sessions if they are a member of nothing now."""
        if not self.workspaces.lets_in(member):
            self.sessions.end_all(member, by=by)
        with self.database.writing() as connection:
            connection.execute(
                "DELETE FROM provider_keys WHERE workspace = ? AND person = ?", (self.workspace, member)
            )

    def _forget(self, conversation: ConversationId) -> None:
        """Forget what people had beside a conversation that is gone for good."""
        for kept in (self.threads, self.inbox, self.seen, self.drafts):
            kept.forget(conversation)

    def erase(self, passages: Passages) -> None:
        """Cut erased texts out of everything that is kept beside the conversations, and from the file's bytes.

        Every table is looked through but those that hold nothing that anybody said, so that none that is added later is
        missed.
        """
        self.database.rewrite(passages.cut_encoded, but=_NOTHING_SAID)
        self.database.fold_in()

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

    def team_of_invitation(self, secret: str) -> Team:
        """The team to which the invitation with this secret invites; that of the first workspace for an unknown one."""
        workspace = self.invitations.workspace_of(secret)
        return self.of(workspace) if workspace and self.workspaces.is_open(workspace) else self.first


def team_file(database: Path) -> Path:
    """Where the people of a file of conversations are kept: beside it."""
    return database.with_name(f"{database.stem}.people.sqlite")


def _people(location: Path | str | None) -> TeamDatabase:
    if isinstance(location, str):
        from forky_core.team.people_on_server import PeopleOnServer  # noqa: PLC0415 - needs a package of its own

        return PeopleOnServer(location)
    return PeopleFile(location)


def people_beside(database: Path | str) -> Path | str | None:
    """Where the people of a database of conversations are, for `Team`: their file, or the URL of the database itself;
    None where it has no team. Makes nothing.

    Raises:
        StoreError: a PostgreSQL server cannot be asked.
    """
    if isinstance(database, Path):
        file = team_file(database)
        return file if file.exists() else None
    if "://" not in database:
        return None
    from forky_core.team.people_on_server import has_people  # noqa: PLC0415 - needs a package of its own

    return database if has_people(database) else None
