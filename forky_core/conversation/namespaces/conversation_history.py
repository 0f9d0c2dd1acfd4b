"""`chat.history`: the log of operations, what undo and redo would do, and earlier states to restore."""

from __future__ import annotations

from forky_core.conversation import erasing, history
from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.erasing import ErasurePlan
from forky_core.conversation.history import RestorePlan
from forky_core.conversation.timeline import Timeline
from forky_core.model import Operation
from forky_core.store.contract import Erased, Verification


class ConversationHistory:
    """The operation log of a conversation. `chat.undo` and `chat.redo` step through it."""

    def __init__(self, chat: BranchReader) -> None:
        self._session = chat._session
        self._chat = chat

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The whole log, oldest first."""
        return self._session.store.operations(self._session.id)

    def since(self, number: int) -> tuple[Operation, ...]:
        """The operations after the one with this number, oldest first."""
        return self._session.store.operations(self._session.id, after=number)

    def by_others(self, number: int) -> tuple[Operation, ...]:
        """The operations after the one with this number that somebody else made, oldest first."""
        return tuple(one for one in self.since(number) if one.actor != self._session.actor)

    @property
    def timeline(self) -> Timeline:
        """Which operations are in force, and what undo and redo would do."""
        return self._session.timeline()

    @property
    def next_undo(self) -> tuple[Operation, ...]:
        """What undo would revert; () if there is nothing."""
        return self._session.timeline().next_undo

    @property
    def next_redo(self) -> tuple[Operation, ...]:
        """What redo would bring back; () if there is nothing."""
        return self._session.timeline().next_redo

    def plan_restore(self, number: int) -> RestorePlan:
        """What `restore` would change. Writes nothing (law 8)."""
        return history.plan_restore(self._session, number)

    def restore(self, number: int) -> Operation:
        """Restore the whole conversation to its state after operation `number`."""
        return history.restore(self._session, number)

    def verify(self) -> Verification:
        """Re-derive every id and replay the log."""
        return self._session.store.verify(self._session.id)

    def plan_erasure(self, message: str) -> ErasurePlan:
        """What erasing what a message says would take. Raises NothingToDo if it was erased already."""
        return erasing.plan_erasure(self._session, self._chat.message(message).id)

    def erase(self, message: str, *, confirm: str) -> Erased:
        """Erase what a message says, for good; its id and place stay, and `verify` still passes.

        `confirm` is the plan's `confirmation`. Backups and exported files keep the text.

        Raises:
            BadContent: `confirm` is something else.
            NothingToDo: it was erased already.
            NotAllowed: the person neither said it nor owns the conversation.
        """
        return erasing.erase(self._session, self._chat.message(message).id, confirm)
