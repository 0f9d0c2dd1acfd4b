"""The verbs of `Conversation` that steer contexts: a branch's memory policy, pins and exclusions."""

from __future__ import annotations

from forky_core.conversation import remembering
from forky_core.conversation.reading import BranchReader
from forky_core.model import Operation
from forky_core.model.memory import Memory


class Steering(BranchReader):
    """A branch whose context can be steered."""

    def exclude(self, *messages: str) -> Operation:
        """Exclude messages from every context of this branch; nothing is removed and nothing forks.

        A tool call is excluded with its results, and a result with its call.
        """
        ids = [self.message(message).id for message in messages]
        return remembering.exclude(self._repo, self.branch_name, ids)

    def include(self, *messages: str) -> Operation:
        """Include excluded messages again."""
        ids = [self.message(message).id for message in messages]
        return remembering.include(self._repo, self.branch_name, ids)

    def pin(self, *messages: str) -> Operation:
        """Have every memory policy keep these messages."""
        ids = [self.message(message).id for message in messages]
        return remembering.pin(self._repo, self.branch_name, ids)

    def unpin(self, *messages: str) -> Operation:
        ids = [self.message(message).id for message in messages]
        return remembering.unpin(self._repo, self.branch_name, ids)

    def set_memory(self, memory: Memory | None) -> Operation:
        """Set this branch's memory policy; None: use the conversation's."""
        return remembering.set_memory(self._repo, self.branch_name, memory)

    def set_conversation_memory(self, memory: Memory) -> Operation:
        """Set the memory policy for branches that have none of their own."""
        return remembering.set_memory(self._repo, None, memory)
