"""Who may do what, as a person would write it down. The code under test is not asked.

`Rule(conversation, workspace)` is what one needs: the role in the conversation, and the role in the workspace. Whoever
lacks the role in the workspace is refused; whoever may not see the conversation does not find it; whoever sees it and
lacks the role is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from forky_core.people.roles import Role

ALLOWED, NOT_FOUND, REFUSED = "allowed", "not found", "refused"


@dataclass(frozen=True)
class Rule:
    """What an entrance needs."""

    conversation: Role = Role.NONE
    workspace: Role = Role.NONE
    never: bool = False
    """Whether nobody may do it who sees the conversation."""

    def outcome(self, in_conversation: Role, in_workspace: Role) -> str:
        if in_workspace < self.workspace:
            return REFUSED
        if self.conversation and not in_conversation:
            return NOT_FOUND
        if self.never:
            return REFUSED
        return ALLOWED if in_conversation >= self.conversation else REFUSED


ANYBODY = Rule()
"""It tells nothing and changes nothing."""
READ = Rule(Role.VIEWER)
OWN_BRANCH = Rule(Role.COMMENTER)
"""A change of what is one's own: a branch or a tag below one's handle, one's vote, a request for a merge."""
CHANGE = Rule(Role.EDITOR)
NEVER = Rule(Role.EDITOR, never=True)
"""A change of what somebody else said, which nobody makes."""
RECORD = Rule(Role.EDITOR, Role.VIEWER)
"""To record a program's call; its scope is looked up among the settings, which only members read."""
FOR_GOOD = Rule(Role.OWNER)
BEGIN = Rule(workspace=Role.COMMENTER)
"""To begin something of one's own in the workspace."""
OFFER = Rule(workspace=Role.EDITOR)
"""To offer something to everybody."""
MANAGE = Rule(workspace=Role.OWNER)
ADD_DOCUMENT = Rule(Role.EDITOR, Role.COMMENTER)
ADD_OWN_DOCUMENT = Rule(Role.COMMENTER, Role.COMMENTER)
