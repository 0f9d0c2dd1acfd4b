"""The rights of one person, cached until anything about the team changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from forky_core.model import ConversationId
from forky_core.model.errors import NotAllowed
from forky_core.people.files import FilesOf
from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.people.sharing import OWNERS, SharedWith
from forky_core.people.team import Team


class Access:
    """The rights of one person in a workspace. What it answers is at most `database.LOOK` seconds old."""

    def __init__(self, team: Team, member: str, files_of: FilesOf) -> None:
        """`files_of` lists the files that a conversation names, for those from before there was a team."""
        self.team = team
        self.id = member
        self._files_of = files_of
        self._version = -1
        self._member: Member | None = None
        self._roles: Mapping[ConversationId, Role] = {}
        self._shared: Mapping[ConversationId, SharedWith] | None = None

    @property
    def member(self) -> Member:
        """The person as they are now. Raises NotFound if they were forgotten."""
        self._renew()
        return self._member or self.team.members.member(self.id)

    @property
    def role(self) -> Role:
        """Their role in the workspace."""
        self._renew()
        return self._member.role if self._member else Role.NONE

    @property
    def visible(self) -> Mapping[ConversationId, Role]:
        """Their role in each conversation that they may see."""
        self._renew()
        return self._roles

    @property
    def shared(self) -> Mapping[ConversationId, SharedWith]:
        """With whom each conversation is shared that they may see."""
        self._renew()
        if self._shared is None:
            every, visible = self.team.sharing.of_all(), self._roles
            self._shared = {id: found for id, found in every.items() if id in visible}
        return self._shared

    def belongs(self, conversation: ConversationId) -> bool:
        """Whether a conversation belongs to them. One that belongs to nobody belongs to the owners of the workspace."""
        if self.role_in(conversation) is not Role.OWNER:
            return False
        owner = self.team.sharing.of(conversation).owner
        return owner == self.id or (owner == OWNERS and self.role is Role.OWNER)

    def owner_of(self, conversation: ConversationId) -> str:
        """The name of the person to whom a conversation belongs; "" for the owners of the workspace."""
        owner = self.team.sharing.of(conversation).owner
        return "" if owner == OWNERS else self.team.members.name_of(owner)

    def role_in(self, conversation: ConversationId) -> Role:
        """Their role in a conversation; `Role.NONE` if they may not see it."""
        return self.visible.get(conversation, Role.NONE)

    def require(self, role: Role, what: str = "do this") -> None:
        """Raise NotAllowed unless their role in the workspace is this one or a higher one."""
        if self.role < role:
            raise NotAllowed(
                f"Only {role.and_above} of this workspace may {what}.",
                "Ask an owner of it.",
            )

    def may_see_file(self, file: str) -> bool:
        """Whether they may see the attachment or document whose bytes have this sha256."""
        return self.team.files.may_see(self.id, file, self.visible, self._files_of)

    def gave(self, file: str) -> bool:
        """Whether they uploaded this file themselves."""
        return self.team.files.gave(self.id, file)

    def give(self, files: Iterable[str]) -> None:
        """Record that they uploaded these files."""
        self.team.files.give(self.id, files)

    def _renew(self) -> None:
        version = self.team.database.version
        if version != self._version:
            found = self.team.members.find(self.id)
            roles = self.team.sharing.roles_in(self.id)
            self._member, self._roles, self._version = found, roles, version
            self._shared = None
