"""Programs' calls to one conversation: find or create an array's last message."""

from __future__ import annotations

from dataclasses import dataclass

from forky_core.conversation.identity import title_from
from forky_core.conversation.recording.filing import Ground, keep_files, put
from forky_core.conversation.session import Session
from forky_core.conversation.transaction import after_races
from forky_core.model import Message, MessageId, Operation
from forky_core.model.errors import Outdated
from forky_core.wire.call import Call


@dataclass(frozen=True, slots=True)
class Received:
    """The end of an array that was found or added."""

    message: Message
    branch: str
    """The branch that ends there, or with an answer to it; "" if the array ends further up."""
    known: int
    """How many of its messages were stored already."""
    skipped: int
    """How many of these, at the beginning, were not matched: the array's head was trimmed or replaced."""
    alternatives: tuple[Message, ...]
    """The existing answers to it, oldest first: one prompt may have many."""
    operation: Operation | None
    """The operation that added new messages; None if there were none."""


def find_or_create(session: Session, call: Call, near: str) -> Received:
    """Find the end of an array; new messages are added as one operation, with the rules of branch `near`.

    Raises:
        InTheWay: the conversation is in the trash.
        Outdated: others write here without a pause.
    """
    return after_races(lambda: _once(session, call, near))


def _once(session: Session, call: Call, near: str) -> Received:
    version = session.view.version
    found = session.match(call.turns)
    keep_files(session.store, call, found.known)
    tx = session.require_not_trashed(alone=True)
    if tx.view.version != version:
        raise Outdated("The conversation has changed meanwhile.", None)
    stood = put(tx, Ground(session.id, lambda: session.messages, lambda: session.visible, near), call, found)
    end = stood.target.parent
    if not stood.fresh and end not in session.visible.messages:
        tx.keep(end)
    operation = None
    if tx.changes:
        said = next(
            (title_from(message.text) for message in reversed(stood.fresh) if message.text.strip()), ""
        )
        operation = tx.publish("receive", f"Received on “{stood.target.branch}”: {said}".removesuffix(": "))
    answers = answers_to(session, end) if not stood.fresh else ()
    return Received(session.message(end), stood.target.branch, found.known, found.skipped, answers, operation)


def answers_to(session: Session, message: MessageId) -> tuple[Message, ...]:
    """The visible answers of the assistant below a message, oldest first."""
    visible = session.visible
    below = (visible.messages[id] for id in visible.children.get(message, ()))
    return tuple(one for one in below if one.role == "assistant")
