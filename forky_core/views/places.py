"""Where a message is looked at, when somebody goes to it by its id alone."""

from __future__ import annotations

from forky_core.conversation.visible import Visible
from forky_core.model import MessageId, View


def branch_for(message: MessageId, view: View, visible: Visible, current: str) -> str:
    """The branch whose head it is, else the current one where it leads there, else one that does.

    A message that no branch reaches (a kept tip) is looked at from the current branch.
    """
    branches = view.branches
    if current in branches and branches[current].head == message:
        return current
    for branch in branches.values():
        if branch.head == message:
            return branch.name
    below = visible.descendants(message)
    if current in branches and branches[current].head in below:
        return current
    return next((branch.name for branch in branches.values() if branch.head in below), current)


def grafted_from(visible: Visible) -> tuple[str, ...]:
    """The conversations of which a branch was taken in here: what that cites of other branches is to be seen there."""
    merges = (merge for message in visible.messages.values() for merge in message.merges)
    return tuple(dict.fromkeys(merge.conversation for merge in merges if merge.conversation))


def later_on(message: MessageId, head: MessageId | None, visible: Visible) -> int | None:
    """How many messages the branch at `head` goes on after `message`; None where it does not pass through it."""
    steps, here = 0, head
    while here is not None and here in visible.messages:
        if here == message:
            return steps
        here = visible.messages[here].parent
        steps += 1
    return None
