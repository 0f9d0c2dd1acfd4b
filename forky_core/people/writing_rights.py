"""Tells pages what one member may write in a conversation. The guarded store refuses the rest."""

from __future__ import annotations

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.identity import free_name, suggested_name
from forky_core.conversation.merging.merge_request import MergeRequest
from forky_core.people.access import Access
from forky_core.people.roles import Role


class WritingRights:
    """The rights of one member in one conversation."""

    def __init__(self, access: Access, chat: Conversation) -> None:
        """`access` and `chat` are those of the member who acts."""
        self._access = access
        self._chat = chat

    @property
    def edits(self) -> bool:
        """Whether the member may change every branch, and land requests."""
        return self._access.role_in(self._chat.id) >= Role.EDITOR

    def may_write(self, branch: str) -> bool:
        """Whether the member may change a branch directly, by asking on it or by a merge without a request."""
        return self.edits or (self.may_fork and branch.startswith(f"{self._access.member.handle}/"))

    @property
    def may_fork(self) -> bool:
        """Whether the member may make branches of their own."""
        return self._access.role_in(self._chat.id) >= Role.COMMENTER

    @property
    def why_only_reads(self) -> str:
        """Why the member may read the conversation and write nothing in it, as a sentence; "" if they may write."""
        if self.may_fork:
            return ""
        owner = self._access.owner_of(self._chat.id)
        whom = f"{owner}, whom it belongs to" if owner else "an owner of this workspace"
        return f"You can read this conversation. To write in it, ask {whom}."

    def name_for_fork(self, name: str, text: str = "") -> str:
        """A free name for a fork that the member may write on: `name`, or one that is made from a text; below their
        handle where the role keeps them from any other.
        """
        below = f"{self._access.member.handle}/"
        taken = self._chat.view.branches
        wanted = name.strip() or below + suggested_name(text, ())
        if not self.may_write(wanted):
            wanted = below + wanted
        return wanted if name.strip() else free_name(wanted, taken)

    def answers(self, request: MergeRequest) -> bool:
        """Whether an open request waits for this member: the conversation belongs to them, somebody else proposed it,
        and they have not approved it as it is or asked for changes.
        """
        me, requests = self._access.id, self._chat.requests
        if (
            request.state != "open"
            or me in requests.authors(request.number)
            or not self._access.belongs(self._chat.id)
        ):
            return False
        heads = requests.heads(request.number)
        return all(
            review.by != me or (review.state == "approved" and review.outdated(request, heads))
            for review in requests.reviews(request.number)
        )
