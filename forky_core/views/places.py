"""The branch on which to show a message, when somebody opens it by its id alone."""

from __future__ import annotations

from forky_core.conversation.visible import Visible
from forky_core.model import MessageId, View
from forky_core.views.listed import listed_branches


def branch_for(message: MessageId, view: View, visible: Visible, current: str) -> str:
    """Return the branch whose head it is, else the current one if it includes the message, else another that does.

    A branch of an experiment is chosen where no other will do. A message that no branch reaches (a kept tip) is shown
    on the current branch.
    """
    branches = {**listed_branches(view, {current}), **view.branches}
    if current in branches and branches[current].head == message:
        return current
    for branch in branches.values():
        if branch.head == message:
            return branch.name
    leads = visible.lineage.leads
    if current in branches and leads(message, branches[current].head):
        return current
    return next((branch.name for branch in branches.values() if leads(message, branch.head)), current)


def grafted_from(visible: Visible) -> tuple[str, ...]:
    """Return the conversations from which a branch was grafted here: citations of their other branches open there."""
    merges = (merge for message in visible.messages.values() for merge in message.merges)
    return tuple(dict.fromkeys(merge.conversation for merge in merges if merge.conversation))


def later_on(message: MessageId, head: MessageId | None, visible: Visible) -> int | None:
    """Return how many messages of the branch at `head` follow `message`; None if it is not on that branch."""
    lineage = visible.lineage
    if head is None or not lineage.leads(message, head):
        return None
    return lineage.depth(head) - lineage.depth(message)
