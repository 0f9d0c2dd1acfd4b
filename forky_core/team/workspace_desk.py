"""What one person does about the workspaces of a server: make, rename, archive, leave and hand over."""

from __future__ import annotations

from collections.abc import Sequence

from forky_core.model.errors import InTheWay, NotAllowed, NotFound
from forky_core.team.roles import Role, role_named
from forky_core.team.team import Team
from forky_core.team.team_workspaces import NO_WORKSPACE, TeamWorkspace

NOBODY_MAKES = "nobody"
"""In place of a role: only `forky admin` makes shared workspaces."""


class WorkspaceDesk:
    """The workspaces as one person may see and change them. One that they may not enter is not found."""

    def __init__(self, team: Team, person: str, *, makes: str = "owner", personal: bool = True) -> None:
        """`makes` is the role in the first workspace from which on people make shared ones, or `NOBODY_MAKES`.

        `personal` says whether each person may have a workspace of their own.
        """
        self._team = team.first
        self._workspaces = team.workspaces
        self._person = person
        self._makes = makes
        self._personal = personal

    @property
    def mine(self) -> Sequence[tuple[TeamWorkspace, Role]]:
        """The open workspaces that the person may enter, with their role: the first one first, their own last."""
        return self._workspaces.of(self._person)

    @property
    def archived(self) -> Sequence[TeamWorkspace]:
        """The archived workspaces that the person may open again."""
        return [
            one
            for one in self._workspaces.all(archived=True)
            if self._role_in_archived(one.id) is Role.OWNER and self._workspaces.lets_in(self._person)
        ]

    @property
    def may_make(self) -> bool:
        """Whether the person may make shared workspaces."""
        if self._makes == NOBODY_MAKES:
            return False
        return self._team.members.role_of(self._person) >= role_named(self._makes)

    @property
    def may_have_own(self) -> bool:
        """Whether the person may begin a workspace of their own, and has none yet."""
        return self._personal and self._workspaces.personal(self._person) is None

    def make(self, title: str) -> TeamWorkspace:
        """Make a shared workspace, whose first owner is the person.

        Raises:
            NotAllowed: they may not make one.
            BadName: the title cannot be used.
        """
        with self._team.database.writing():
            if not self.may_make:
                raise NotAllowed("You may not make workspaces here.", "Ask whoever runs this Forky.")
            return self._workspaces.make(title, owner=self._person, by=self._person)

    def make_own(self) -> TeamWorkspace:
        """The person's own workspace, which is made if they have none. Raises NotAllowed if there are none here."""
        with self._team.database.writing():
            if not (self._personal and self._workspaces.lets_in(self._person)):
                raise NotAllowed(
                    "There are no workspaces of single people here.", "Ask whoever runs this Forky."
                )
            found = self._workspaces.make_personal(self._person, "My own")
            if found.archived:
                self._workspaces.archive(found.id, archived=False, by=self._person)
                found = self._workspaces.get(found.id)
        return found

    def rename(self, workspace: str, title: str) -> None:
        """Give a workspace another title.

        Raises:
            NotFound: there is none that they may enter.
            NotAllowed: they are no owner of it.
            BadName: the title cannot be used.
        """
        with self._team.database.writing():
            self._require_owner(workspace, "rename it")
            self._workspaces.rename(workspace, title, by=self._person)

    def archive(self, workspace: str) -> None:
        """Close a workspace to everybody; its file and its members stay.

        Raises:
            NotFound: there is none that they may enter.
            NotAllowed: they are no owner of it.
            InTheWay: it is the first one.
        """
        with self._team.database.writing():
            self._require_owner(workspace, "archive it")
            self._workspaces.archive(workspace, archived=True, by=self._person)

    def open_again(self, workspace: str) -> None:
        """Open an archived workspace. Raises NotFound if there is none whose owner the person is."""
        with self._team.database.writing():
            if workspace not in {one.id for one in self.archived}:
                raise NotFound(NO_WORKSPACE)
            self._workspaces.archive(workspace, archived=False, by=self._person)

    def leave(self, workspace: str) -> None:
        """End the person's own membership of a workspace.

        Raises:
            NotFound: there is none that they may enter.
            InTheWay: they are its last owner, or it is their own.
        """
        with self._team.database.writing():
            self._require_member(workspace)
            if self._workspaces.get(workspace).personal:
                raise InTheWay("This workspace is your own.", "Archive it instead.")
            self._team.of(workspace).members.remove(self._person, by=self._person)

    def hand_over(self, workspace: str, to: str) -> None:
        """Make another member an owner of a workspace; the person stays as an editor.

        Raises:
            NotFound: there is none that they may enter, or `to` is not a member of it.
            NotAllowed: they are no owner of it.
        """
        with self._team.database.writing():
            self._require_owner(workspace, "hand it over")
            members = self._team.of(workspace).members
            if to == self._person:
                raise InTheWay("It is yours already.")
            members.set_role(to, Role.OWNER, by=self._person)
            members.set_role(self._person, Role.EDITOR, by=self._person)

    def _require_member(self, workspace: str) -> Role:
        role = self._workspaces.role_in(workspace, self._person)
        if not role:
            raise NotFound(NO_WORKSPACE)
        return role

    def _require_owner(self, workspace: str, what: str) -> None:
        if self._require_member(workspace) is not Role.OWNER:
            raise NotAllowed(f"Only an owner of this workspace may {what}.", "Ask an owner of it.")

    def _role_in_archived(self, workspace: str) -> Role:
        row = self._team.database.row(
            "SELECT role FROM members WHERE workspace = ? AND person = ?", workspace, self._person
        )
        return Role(row["role"]) if row else Role.NONE
