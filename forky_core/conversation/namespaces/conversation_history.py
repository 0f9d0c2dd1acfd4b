"""`chat.history`: the log of operations, what undo and redo would do, and earlier states to restore."""

from __future__ import annotations

from dataclasses import dataclass

from forky_core.conversation import history
from forky_core.conversation.branch_reader import BranchReader
from forky_core.conversation.history import RestorePlan, settle
from forky_core.conversation.identity import now
from forky_core.conversation.sent_requests import SentRequests
from forky_core.conversation.session import short
from forky_core.conversation.timeline import Timeline
from forky_core.model import MessageId, Operation
from forky_core.model.erasure import Passages, copies_of
from forky_core.model.errors import BadContent, NothingToDo
from forky_core.model.parts import AttachmentPart
from forky_core.store.contract import Erased, Verification


@dataclass(frozen=True, slots=True)
class ErasurePlan:
    """What erasing a message would take in this conversation. Nothing is changed yet."""

    message: MessageId
    copies: int
    """Other messages that were copied from it, and are erased with it."""
    repeats: tuple[MessageId, ...]
    """Messages that repeat a passage of it, which they lose: merges that quote it, and answers."""
    operations: int
    """Entries of the history that repeat it, such as the title that was made of it."""
    files: int
    """Its attachments; those that no other message has are removed."""

    @property
    def confirmation(self) -> str:
        """What a person types to confirm: the first eight digits of the message's id."""
        return short(self.message)


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

    def refuse_if_changed(self, seen: int) -> None:
        """Raise Outdated, naming what came first, if an operation follows the one with this number."""
        history.refuse_if_changed(self._session, self._session.view, seen)

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
        """What erasing what a message says would take, and what else repeats it. Writes nothing (law 8).

        Raises NothingToDo if it was erased already.
        """
        session, at = self._session, self._chat.message(message).id
        known = session.view.erasures.get(at)
        if known is not None and known.whole:
            raise NothingToDo("This message was erased already.")
        messages = session.messages
        copies = copies_of(at, messages.values())
        ids = {one.id for one in copies}
        passages = Passages(copies, "")
        repeats = tuple(
            one.id
            for one in messages.values()
            if one.id not in ids
            and passages.cut_message(one, short=any(not ids.isdisjoint(part.messages) for part in one.merges))
            is not one
        )
        return ErasurePlan(
            at,
            len(copies) - 1,
            repeats,
            sum(passages.cut_operation(operation) is not operation for operation in self.operations),
            sum(isinstance(part, AttachmentPart) for one in copies for part in one.parts),
        )

    def erase(self, message: str, *, confirm: str) -> Erased:
        """Erase what a message says, for good; its id and place stay, and `verify` still passes.

        `confirm` is the plan's `confirmation`. Unlike everything else it cannot be undone, and a reply that is being
        written is stopped first. Copies outside this database stay as they are: backups, exported files, and what a
        provider was sent.

        Raises:
            BadContent: `confirm` is something else.
            NothingToDo: it was erased already.
            NotAllowed: the person neither said it nor owns the conversation.
        """
        session, at = self._session, self._chat.message(message).id
        if confirm.strip().lower().removeprefix("b2:") != short(at):
            raise BadContent(
                "That is not what was to be typed.", f"Type {short(at)} to erase the message for good."
            )
        settle(session)
        done = session.store.erase(session.id, at, by=session.actor, at=now())
        for conversation in done.conversations:
            session.indexes.drop(conversation)
            session.visible_caches.drop(conversation)
        session.sent = SentRequests()
        return done
