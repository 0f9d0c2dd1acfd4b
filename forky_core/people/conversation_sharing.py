"""With whom one conversation is shared, as one member may see and change it."""

from __future__ import annotations

from forky_core.model import ConversationId
from forky_core.model.errors import BadContent, NotAllowed, NotFound
from forky_core.people.access import Access
from forky_core.people.members import Member
from forky_core.people.roles import Role
from forky_core.people.sharing import OWNERS, SharedWith

GIVEN = (Role.VIEWER, Role.COMMENTER, Role.EDITOR)
"""The roles in a conversation that can be given to single people; its one owner is whoever it belongs to."""


class ConversationSharing:
    """One conversation, and who sees it. Every method raises NotFound if the member may not see it themselves.

    Only the person whom a conversation belongs to changes that; one that belongs to nobody in particular is the
    workspace's owners' to share.
    """

    def __init__(self, access: Access, conversation: ConversationId) -> None:
        """`access` is that of the member who acts."""
        self._team = access.team
        self._access = access
        self._conversation = conversation

    @property
    def shared_with(self) -> SharedWith:
        if not self._access.role_in(self._conversation):
            raise NotFound("There is no such conversation.")
        return self._team.sharing.of(self._conversation)

    @property
    def owner(self) -> Member | None:
        """The person whom the conversation belongs to; None if it belongs to the owners of the workspace."""
        owner = self.shared_with.owner
        return None if owner == OWNERS else self._team.members.member(owner)

    @property
    def may_change(self) -> bool:
        """Whether the member may say who sees the conversation."""
        owner = self.shared_with.owner
        return owner == self._access.id or (owner == OWNERS and self._access.role is Role.OWNER)

    @property
    def own_role(self) -> Role:
        """What the member may do in the conversation."""
        return self._access.role_in(self._conversation)

    @property
    def takes_part_by_share(self) -> bool:
        """Whether the conversation was shared with the member by name."""
        return self._access.id in self.shared_with.people

    # Changes.

    def share_with_everyone(self, *, shared: bool) -> None:
        """Show the conversation to all members, or to single people only."""
        with self._team.database.writing():
            self._require_owner()
            self._team.sharing.share_with_everyone(self._conversation, shared=shared, by=self._access.id)

    def share(self, member: str, role: Role) -> None:
        """Give one person a role in the conversation; `Role.NONE` takes it away.

        Raises:
            NotFound: they are not a member.
            BadContent: the conversation is theirs, or the role is that of an owner.
        """
        with self._team.database.writing():
            self._require_owner()
            if role is Role.OWNER:
                raise BadContent("A conversation belongs to one person.", "Hand it over instead.")
            self._team.sharing.share(self._conversation, member, role, by=self._access.id)

    def hand_over(self, to: str) -> None:
        """Give the conversation to somebody else; the former owner stays an editor.

        Raises:
            NotFound: they are not a member.
            BadContent: it is theirs already.
        """
        with self._team.database.writing():
            self._require_owner()
            if self.shared_with.owner == to:
                raise BadContent("This conversation belongs to them already.")
            self._team.sharing.hand_over(self._conversation, to, by=self._access.id)

    def leave(self) -> None:
        """Give up the role that the member was given by name.

        Raises:
            BadContent: they were given none.
        """
        with self._team.database.writing():
            if not self.takes_part_by_share:
                raise BadContent("This conversation was not shared with you by name.")
            self._team.sharing.share(self._conversation, self._access.id, Role.NONE, by=self._access.id)

    def _require_owner(self) -> None:
        if self.may_change:
            return
        owner = self.owner
        whose = f"belongs to {owner.name}" if owner is not None else "belongs to the owners of this workspace"
        raise NotAllowed(f"This conversation {whose}, who alone may say who sees it.", "Ask them.")
