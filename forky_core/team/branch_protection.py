"""The protected branches of one conversation and the reviews of its requests, as one member may see and change them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.identity import free_name, suggested_name
from forky_core.conversation.merging.merge_request import MergeRequest
from forky_core.conversation.merging.review_log import Review
from forky_core.model import ConversationId, MessageId
from forky_core.model.errors import BadContent, NotAllowed, NotFound
from forky_core.team.access import Access
from forky_core.team.members import Member
from forky_core.team.protection import BranchRule, rule_for
from forky_core.team.review_standing import ReviewStanding, standing
from forky_core.team.roles import Role
from forky_core.team.sharing import OWNERS
from forky_core.team.team import Team


class BranchProtection:
    """One conversation's rules for its branches. Every method raises NotFound if the member may not see it themselves.

    Whoever may say who sees the conversation says which branches are protected: the person it belongs to, or the
    workspace's owners where it belongs to nobody in particular.
    """

    def __init__(self, team: Team, access: Access, chat: Conversation) -> None:
        """`access` and `chat` are those of the member who acts."""
        self._team = team
        self._access = access
        self._chat = chat

    @property
    def rules(self) -> Sequence[BranchRule]:
        """What protects its branches, sorted by pattern."""
        self._require_seen()
        return self._access.rules_of(self._chat.id)

    @property
    def may_change(self) -> bool:
        """Whether the member says what is protected."""
        return self._access.belongs(self._chat.id)

    @property
    def edits(self) -> bool:
        """Whether the member may change every branch that is not protected, and land requests."""
        return self._access.role_in(self._chat.id) >= Role.EDITOR

    def rule_for(self, branch: str) -> BranchRule | None:
        """What protects a branch; None if nothing does."""
        return rule_for(self.rules, branch)

    def may_write(self, branch: str) -> bool:
        """Whether the member may change a branch directly, by asking on it or by a merge without a request."""
        role = self._access.role_in(self._chat.id)
        own = role >= Role.COMMENTER and branch.startswith(f"{self._access.member.handle}/")
        return (self.edits or own) and not self.keeps_out(branch)

    def keeps_out(self, branch: str) -> bool:
        """Whether a rule keeps the member from changing a branch directly, whatever their role."""
        rule = self.rule_for(branch)
        return rule is not None and not (rule.bypass and self.may_change)

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
        handle where the role or a rule keeps them from any other.
        """
        below = f"{self._access.member.handle}/"
        taken = self._chat.view.branches
        wanted = name.strip() or below + suggested_name(text, ())
        if not self.may_write(wanted) and not wanted.startswith(below):
            wanted = below + wanted
        return wanted if name.strip() else free_name(wanted, taken)

    def reviewers(self) -> Sequence[Member]:
        """The members who can be named as reviewers: those who may at least comment in the conversation."""
        return possible_reviewers(self._team, self._chat.id)

    def standing(self, request: MergeRequest, lands: MessageId | None = None) -> ReviewStanding | None:
        """The reviews of a request, held against the rule of its target; None if nothing protects that.

        Approvals count as `standing_of` says.
        """
        rule = self.rule_for(request.into)
        if rule is None:
            return None
        return standing_of(
            self._chat, request, rule, lambda person: self._access.role_of(self._chat.id, person), lands
        )

    def needs_review_of(self, request: MergeRequest) -> bool:
        """Whether an open request waits for this member.

        On a protected branch that is a named reviewer who has not approved it as it is, and, while approvals are
        missing, everybody whose approval would count; on any other whoever the conversation belongs to, who answers it.
        """
        me, found = self._access.id, self.standing(request)
        authors = self._chat.requests.authors(request.number)
        if request.state != "open" or me in authors:
            return False
        if found is None:
            return self.may_change
        if me in found.approved or me in found.asking or found.imported:
            return False
        return me in found.waiting_for or (found.missing > 0 and self.edits)

    # Changes.

    def protect(self, rule: BranchRule) -> None:
        """Add a rule, or replace the one with the same pattern.

        Raises:
            NotAllowed: the conversation belongs to somebody else.
            BadContent: the pattern, the number of approvals or one of the reviewers cannot be used.
        """
        with self._team.database.writing():
            self._require_owner()
            protect_branches(self._team, self._chat.id, rule, by=self._access.id)

    def lift(self, pattern: str) -> None:
        """Remove the rule with this pattern.

        Raises:
            NotAllowed: the conversation belongs to somebody else.
            NotFound: there is none.
        """
        with self._team.database.writing():
            self._require_owner()
            self._team.protections.lift(self._chat.id, pattern, by=self._access.id)

    def _require_seen(self) -> None:
        if not self._access.role_in(self._chat.id):
            raise NotFound("There is no such conversation.")

    def _require_owner(self) -> None:
        self._require_seen()
        if self.may_change:
            return
        owner = self._team.sharing.of(self._chat.id).owner
        whose = "the owners of this workspace" if owner == OWNERS else self._team.members.name_of(owner)
        raise NotAllowed(
            f"This conversation belongs to {whose}, who alone may protect its branches.", "Ask them."
        )


def possible_reviewers(team: Team, conversation: ConversationId) -> Sequence[Member]:
    """The members who can be named as reviewers: those who may at least comment in a conversation."""
    return [member for member, role in team.sharing.readers(conversation) if role >= Role.COMMENTER]


def protect_branches(team: Team, conversation: ConversationId, rule: BranchRule, *, by: str) -> None:
    """Add a rule to a conversation, or replace the one with the same pattern. Whether `by` may is asked before.

    Raises:
        BadContent: the pattern, the number of approvals or one of the reviewers cannot be used.
    """
    with team.database.writing():
        known = {member.id for member in possible_reviewers(team, conversation)}
        if not known.issuperset(rule.reviewers):
            raise BadContent(
                "A reviewer is somebody who may at least comment in this conversation.",
                "Share it with them first.",
            )
        team.protections.protect(conversation, rule, by=by)


def standing_of(
    chat: Conversation,
    request: MergeRequest,
    rule: BranchRule,
    role_of: Callable[[str], Role],
    lands: MessageId | None = None,
) -> ReviewStanding:
    """The reviews of a request, held against a rule; `role_of` is what a person may do in the conversation now.

    Approvals count since which nothing moved or was changed, and, where it is known which message `lands`, which are
    of that one.
    """
    heads = chat.requests.heads(request.number)

    def outdated(review: Review) -> str:
        why = review.outdated(request, heads)
        return why or (
            "" if lands in (None, review.lands) else "something else would land than what was approved"
        )

    return standing(
        rule,
        chat.requests.reviews(request.number),
        chat.requests.authors(request.number),
        role_of,
        outdated,
    )
