"""Steering what a model sees: the verbs of `Conversation` that change a branch's memory, pins and exclusions."""

from __future__ import annotations

from forky_core.conversation import remembering
from forky_core.conversation.reading import BranchReader
from forky_core.model import Operation
from forky_core.model.memory import Memory


class Steering(BranchReader):
    """A branch whose context can be steered."""

    def exclude(self, *messages: str) -> Operation:
        """Leave messages out of every context of this branch; nothing is removed and nothing forks.

        A tool call takes its results along, and a result its call.
        """
        ids = [self.message(message).id for message in messages]
        return remembering.exclude(self._repo, self.branch_name, ids)

    def include(self, *messages: str) -> Operation:
        """Send messages again that were left out."""
        ids = [self.message(message).id for message in messages]
        return remembering.include(self._repo, self.branch_name, ids)

    def pin(self, *messages: str) -> Operation:
        """Have whatever memory policy keep these messages."""
        ids = [self.message(message).id for message in messages]
        return remembering.pin(self._repo, self.branch_name, ids)

    def unpin(self, *messages: str) -> Operation:
        ids = [self.message(message).id for message in messages]
        return remembering.unpin(self._repo, self.branch_name, ids)

    def set_memory(self, memory: Memory | None) -> Operation:
        """Set what this branch remembers; None: what the conversation says."""
        return remembering.set_memory(self._repo, self.branch_name, memory)

    def set_conversation_memory(self, memory: Memory) -> Operation:
        """Set what branches remember that say nothing themselves."""
        return remembering.set_memory(self._repo, None, memory)
