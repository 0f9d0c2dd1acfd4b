"""A team: the people of a workspace and everything that is kept about them, opened from one database.

Each row names its workspace: several servers, each with a workspace of its own, may keep their people in one PostgreSQL
database. Accounts, sessions and names are of the whole database.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from forky_core.model import ConversationId
from forky_core.model.erasure import Passages
from forky_core.people.allowances import Allowances
from forky_core.people.attempts import AttemptKind, Attempts, TeamAttempts
from forky_core.people.audit import Audit
from forky_core.people.database import TeamDatabase, now
from forky_core.people.files import SharedFiles
from forky_core.people.inbox import Inbox
from forky_core.people.invitations import Invitations
from forky_core.people.last_seen import LastSeen
from forky_core.people.members import Members
from forky_core.people.one_time_links import OneTimeLinks
from forky_core.people.people_file import PeopleFile
from forky_core.people.refused_requests import RefusedRequests
from forky_core.people.roles import Role
from forky_core.people.sharing import Sharing
from forky_core.people.stored_drafts import StoredDrafts
from forky_core.people.team_sessions import TeamSessions
from forky_core.people.threads import Threads

WORKSPACE = "main"
"""The id of the workspace of a server that names none."""
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
        workspace: str = WORKSPACE,
        clock: Callable[[], int] = now,
        audit_days: int = 0,
    ) -> None:
        """Open the people of a team, or make them: in a file, or in a PostgreSQL database by its URL; None: in memory.

        `workspace` is the id of the workspace whose people they are; other servers may keep those of others in the same
        database. `audit_days` says how long the audit log keeps an entry; 0: for ever.
        """
        self.database = _people(location)
        self.workspace = workspace
        """The id of the workspace."""
        self.audit = Audit(
            self.database, "" if workspace == WORKSPACE else workspace, days=audit_days, clock=clock
        )
        self.sessions = TeamSessions(self.database, self.audit, clock=clock)
        self.links = OneTimeLinks(self.database, clock=clock)
        self.attempts: Callable[[AttemptKind], Attempts] = partial(TeamAttempts, self.database, clock)
        """The failed attempts of a kind."""
        self.changed: Callable[[str], None] = lambda _id: None
        """Called with the id of a person whose notices have changed, or of a conversation whose threads have."""
        self.members = Members(self.database, self.audit, workspace)
        self.invitations = Invitations(self.database, self.audit, workspace, clock=clock)
        self.sharing = Sharing(self.database, self.audit, self.members, workspace)
        self.files = SharedFiles(self.database, workspace)
        self.threads = Threads(self.database, workspace, clock)
        self.inbox = Inbox(self.database, self.members, self.sharing, workspace)
        self.seen = LastSeen(self.database, workspace)
        self.drafts = StoredDrafts(self.database, workspace)
        self.refused = RefusedRequests(self.audit)
        """The requests that were refused because somebody sends too many, or the server cannot answer them."""
        self.allowances = Allowances(self.database, self.audit, self.members, workspace, clock)
        self.members.removed = self._removed
        self.audit.noted = self.inbox.note_audited
        self.sharing.dropped = self._forget
        self.inbox.changed = lambda person: self.changed(person)  # noqa: PLW0108 - it is set later
        self.threads.changed = lambda conversation: self.changed(conversation)  # noqa: PLW0108 - as above
        self.threads.forget_deleted()

    def close(self) -> None:
        self.refused.close()
        self.database.close()

    def _removed(self, member: str, by: str) -> None:
        """End what a person had who stops being a member, and their sessions if they are a member of nothing now."""
        if not self.members.is_elsewhere(member):
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
        """Remove erased texts from everything that is stored beside the conversations, and from the bytes of the file.

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


def _people(location: Path | str | None) -> TeamDatabase:
    if isinstance(location, str):
        from forky_core.people.people_on_server import PeopleOnServer  # noqa: PLC0415 - needs a package of its own

        return PeopleOnServer(location)
    return PeopleFile(location)
