"""`chat.rules`: what a branch's requests are made with, its memory policy, its pins and its exclusions."""

from __future__ import annotations

from collections.abc import Mapping

from forky_core.conversation import branching, context_rules
from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.branching import UNCHANGED, Unchanged
from forky_core.model import MessageId, Operation, Rules
from forky_core.model.memory import Memory
from forky_core.model.parts import Json


class BranchRules:
    """The rules of a branch. Changing them forks nothing and changes no message."""

    def __init__(self, chat: BranchReader) -> None:
        self._chat = chat
        self._session = chat._session

    @property
    def current(self) -> Rules:
        """The rules as they are now: system prompt, model, parameters, memory, pins and exclusions."""
        return self._chat.branch.rules

    @property
    def memory(self) -> Memory:
        """The memory policy that applies to this branch: its own, or the conversation's."""
        view = self._chat.view
        return view.memory_of(view.branch(self._chat.branch_name).rules)

    def set(
        self,
        *,
        system: str | Unchanged | None = UNCHANGED,
        model: str | Unchanged | None = UNCHANGED,
        parameters: Mapping[str, Json] | Unchanged = UNCHANGED,
    ) -> Operation:
        """Change the system prompt, the model or the parameters that this branch's requests are made with.

        Raises NothingToDo if these are the rules already.
        """
        return branching.set_rules(self._session, self._chat.branch_name, system, model, parameters)

    def exclude(self, *messages: str) -> Operation:
        """Exclude messages from every context of this branch; nothing is removed and nothing forks.

        A tool call is excluded with its results, and a result with its call.
        """
        return context_rules.exclude(self._session, self._chat.branch_name, self._ids(messages))

    def include(self, *messages: str) -> Operation:
        """Include excluded messages again."""
        return context_rules.include(self._session, self._chat.branch_name, self._ids(messages))

    def pin(self, *messages: str) -> Operation:
        """Have every memory policy keep these messages."""
        return context_rules.pin(self._session, self._chat.branch_name, self._ids(messages))

    def unpin(self, *messages: str) -> Operation:
        """Let memory policies leave these messages out again."""
        return context_rules.unpin(self._session, self._chat.branch_name, self._ids(messages))

    def set_memory(self, memory: Memory | None) -> Operation:
        """Set this branch's memory policy; None: use the conversation's."""
        return context_rules.set_memory(self._session, self._chat.branch_name, memory)

    def set_conversation_memory(self, memory: Memory) -> Operation:
        """Set the memory policy for branches that have none of their own."""
        return context_rules.set_memory(self._session, None, memory)

    def _ids(self, messages: tuple[str, ...]) -> list[MessageId]:
        return [self._chat.message(message).id for message in messages]
