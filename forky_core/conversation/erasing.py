"""Erasing what a message says: first a plan that says what else repeats it, then one operation (law 8).

Unlike everything else it cannot be undone. Copies outside this database stay as they are: backups, files that were
exported, and what a provider was sent.
"""

from __future__ import annotations

from dataclasses import dataclass

from forky_core.conversation.history import settle
from forky_core.conversation.identity import now
from forky_core.conversation.sent_requests import SentRequests
from forky_core.conversation.session import Session, short
from forky_core.model import MessageId
from forky_core.model.erasure import Passages, copies_of
from forky_core.model.errors import BadContent, NothingToDo
from forky_core.model.parts import AttachmentPart
from forky_core.store.contract import Erased


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


def plan_erasure(session: Session, message: MessageId) -> ErasurePlan:
    """What erasing a message would take.

    Raises:
        NothingToDo: it was erased already.
    """
    known = session.view.erasures.get(message)
    if known is not None and known.whole:
        raise NothingToDo("This message was erased already.")
    messages = session.messages
    copies = copies_of(message, messages.values())
    ids = {one.id for one in copies}
    passages = Passages(copies, "")
    repeats = tuple(
        one.id
        for one in messages.values()
        if one.id not in ids
        and passages.cut_message(one, short=any(not ids.isdisjoint(part.messages) for part in one.merges))
        is not one
    )
    log = session.store.operations(session.id)
    return ErasurePlan(
        message,
        len(copies) - 1,
        repeats,
        sum(passages.cut_operation(operation) is not operation for operation in log),
        sum(isinstance(part, AttachmentPart) for one in copies for part in one.parts),
    )


def erase(session: Session, message: MessageId, confirmation: str) -> Erased:
    """Erase what a message says, for good. A reply that is being written is stopped first.

    Raises:
        BadContent: the confirmation is not the beginning of the message's id.
        NothingToDo: it was erased already.
        NotAllowed: the person neither said it nor owns the conversation.
    """
    if confirmation.strip().lower().removeprefix("b2:") != short(message):
        raise BadContent(
            "That is not what was to be typed.", f"Type {short(message)} to erase the message for good."
        )
    settle(session)
    done = session.store.erase(session.id, message, by=session.actor, at=now())
    for conversation in done.conversations:
        session.indexes.drop(conversation)
        session.visible_caches.drop(conversation)
    session.sent = SentRequests()
    return done
