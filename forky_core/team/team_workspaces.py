"""The workspaces of one server: their titles, whose they are, and who is a member of which.

The first one, `WORKSPACE`, is the database that the server was started with. Each other one has a random id, which is
the name of its file; the title is kept here only, so that renaming moves nothing. A personal workspace belongs to one
person, its only member. It opens to them as long as they are a member of a shared one: it is no way in by itself.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from forky_core.model.errors import InTheWay, NotFound
from forky_core.model.room import fit_name
from forky_core.team.audit import Audit
from forky_core.team.database import TeamDatabase, Writing, now
from forky_core.team.roles import Role

WORKSPACE = "main"
"""The id of the first workspace."""
BELOW = "/w"
"""What the addresses of further workspaces begin with, before the id."""
MOST_OF_ONE = 50
"""Shared workspaces that one person may have made."""
_WHAT = "A workspace"
NO_WORKSPACE = "There is no such workspace."
_KNOWN = "SELECT w.id, w.title, w.person, w.made_by, w.created, w.archived FROM workspaces w"


def base_path(workspace: str) -> str:
    """What the paths of a workspace begin with: `/w/ID`; "" for the first one."""
    return "" if workspace == WORKSPACE else f"{BELOW}/{workspace}"


@dataclass(frozen=True, slots=True)
class TeamWorkspace:
    """One workspace."""

    id: str
    title: str
    person: str
    """The id of the person whose own it is; "" for a shared one."""
    made_by: str
    """The id of who made it; "" for the first one and those that the operator made."""
    created: int
    """Microseconds since the epoch, UTC; 0 for the first one."""
    archived: int
    """When it was archived, likewise; 0 while it is open."""

    @property
    def personal(self) -> bool:
        return bool(self.person)


class TeamWorkspaces:
    """The workspaces of one server, and who may enter them. Whether somebody may change them is asked before."""

    def __init__(self, database: TeamDatabase, audit: Audit) -> None:
        self._database = database
        self._audit = audit

    def all(self, *, archived: bool = False) -> Sequence[TeamWorkspace]:
        """The workspaces that are open, or those that are archived, the oldest first."""
        return self._select(f"WHERE w.archived {'>' if archived else '='} 0 ORDER BY w.created, w.id")

    def find(self, id: str) -> TeamWorkspace | None:
        """The workspace with this id, also an archived one; None for an unknown id."""
        return next(iter(self._select("WHERE w.id = ?", id)), None)

    def get(self, id: str) -> TeamWorkspace:
        """The workspace with this id. Raises NotFound if there is none."""
        found = self.find(id)
        if found is None:
            raise NotFound(NO_WORKSPACE)
        return found

    def named(self, name: str) -> TeamWorkspace:
        """The open workspace with this id or title, in any case.

        Raises:
            NotFound: there is none.
            InTheWay: several have this title.
        """
        wanted = name.strip().casefold()
        found = [one for one in self.all() if name == one.id or one.title.casefold() == wanted]
        if not found:
            raise NotFound(f"There is no workspace “{name[:60]}”.", "`forky admin workspaces` lists them.")
        if len(found) > 1:
            raise InTheWay(f"{len(found)} workspaces are called “{name[:60]}”.", "Give the id of one.")
        return found[0]

    def of(self, person: str) -> Sequence[tuple[TeamWorkspace, Role]]:
        """The open workspaces that a person may enter, with their role: the first one first, their own last."""
        if not self.lets_in(person):
            return ()
        rows = self._database.rows(
            _KNOWN.replace(" FROM", ", m.role FROM", 1) + " JOIN members m ON m.workspace = w.id "
            "WHERE m.person = ? AND w.archived = 0",
            person,
        )
        found = [(TeamWorkspace(*row[:6]), Role(row[6])) for row in rows]
        order = lambda one: (one[0].personal, one[0].id != WORKSPACE, one[0].title.casefold(), one[0].id)  # noqa: E731
        return sorted(found, key=order)

    def role_in(self, workspace: str, person: str) -> Role:
        """The role of a person in an open workspace; `Role.NONE` for anybody else, and in one that is archived."""
        found = self._database.known(
            "SELECT m.role, w.person FROM members m JOIN workspaces w ON w.id = m.workspace "
            "WHERE m.workspace = ? AND m.person = ? AND w.archived = 0",
            workspace,
            person,
        )
        if not found or (found[0]["person"] and not self.lets_in(person)):
            return Role.NONE
        return Role(found[0]["role"])

    def lets_in(self, person: str) -> bool:
        """Whether a person may sign in: they are a member of a shared workspace that is open."""
        found = self._database.known(
            "SELECT 1 FROM members m JOIN workspaces w ON w.id = m.workspace "
            "WHERE m.person = ? AND w.person = '' AND w.archived = 0 LIMIT 1",
            person,
        )
        return bool(found)

    def is_open(self, workspace: str) -> bool:
        """Whether there is such a workspace, and it is not archived."""
        found = self.find(workspace)
        return found is not None and not found.archived

    def personal(self, person: str) -> TeamWorkspace | None:
        """A person's own workspace, also an archived one; None if they have none."""
        return next(iter(self._select("WHERE w.person = ?", person)), None)

    # Changes. `by` is the id of the person who makes it.

    def make(self, title: str, *, owner: str, by: str) -> TeamWorkspace:
        """Make a shared workspace. `owner` is its first member; "" leaves it without any.

        Raises:
            BadName: the title cannot be used.
            InTheWay: this person has made very many.
        """
        title = fit_name(title, _WHAT)
        with self._database.writing() as connection:
            if by and len(self._select("WHERE w.made_by = ? AND w.person = ''", by)) >= MOST_OF_ONE:
                raise InTheWay(
                    f"You have made {MOST_OF_ONE} workspaces, which is the most.",
                    "Ask whoever runs this Forky.",
                )
            id = secrets.token_hex(8)
            self._add(connection, id, title, "", by)
            if owner:
                self._join(connection, id, owner)
            self._audit.note("workspace made", by, workspace=id, title=title)
        return self.get(id)

    def make_personal(self, person: str, title: str) -> TeamWorkspace:
        """A person's own workspace, which is made if they have none."""
        with self._database.writing() as connection:
            found = self.personal(person)
            if found is None:
                id = secrets.token_hex(8)
                self._add(connection, id, fit_name(title, _WHAT), person, person)
                self._join(connection, id, person)
                self._audit.note("workspace made", person, workspace=id)
                found = self.get(id)
        return found

    def rename(self, id: str, title: str, *, by: str) -> None:
        """Give a workspace another title. Raises BadName for one that cannot be used, NotFound for an unknown id."""
        title = fit_name(title, _WHAT)
        with self._database.writing() as connection:
            self.get(id)
            connection.execute("UPDATE workspaces SET title = ? WHERE id = ?", (title, id))
            self._audit.note("workspace renamed", by, workspace=id, title=title)

    def archive(self, id: str, *, archived: bool, by: str) -> None:
        """Close a workspace to everybody, or open it again; its file and its members stay as they are.

        Raises:
            NotFound: there is no workspace with this id.
            InTheWay: it is the first one.
        """
        with self._database.writing() as connection:
            found = self.get(id)
            if found.id == WORKSPACE:
                raise InTheWay("The first workspace cannot be archived: the server is started with it.")
            connection.execute(
                "UPDATE workspaces SET archived = ? WHERE id = ?", (now() if archived else 0, id)
            )
            event = "workspace archived" if archived else "workspace opened again"
            self._audit.note(event, by, workspace=id, title=found.title)

    # Tokens of `/v1`.

    def keep_token(self, sha256: str, workspace: str) -> None:
        """Note to which workspace a token belongs, by the sha256 of its text."""
        with self._database.writing() as connection:
            connection.execute("INSERT INTO workspace_tokens VALUES (?, ?)", (sha256, workspace))

    def of_token(self, sha256: str) -> str:
        """The workspace of a token; the first one for a token that is not noted."""
        row = self._database.row("SELECT workspace FROM workspace_tokens WHERE digest = ?", sha256)
        return str(row["workspace"]) if row else WORKSPACE

    def _select(self, rest: str, *values: str | int) -> list[TeamWorkspace]:
        return [TeamWorkspace(*row) for row in self._database.known(f"{_KNOWN} {rest}", *values)]

    def _add(self, connection: Writing, id: str, title: str, person: str, by: str) -> None:
        connection.execute(
            "INSERT INTO workspaces (id, title, person, made_by, created) VALUES (?, ?, ?, ?, ?)",
            (id, title, person, by, now()),
        )

    def _join(self, connection: Writing, workspace: str, person: str) -> None:
        connection.execute(
            "INSERT INTO members VALUES (?, ?, ?, ?)", (workspace, person, Role.OWNER.value, now())
        )
