"""Messages that no verb writes by itself: tool calls and results, whose loop is not Forky's."""

from __future__ import annotations

from forky_core.conversation.conversation import Conversation
from forky_core.model import Role, seal
from forky_core.model.parts import Draft, Part


def add(chat: Conversation, role: Role, *parts: Part) -> str:
    """The id of a message of these parts at the end of the branch."""
    tx = chat._session.require_not_trashed()
    message = seal(Draft(role, parts), (chat.branch.head,))
    tx.messages.append(message)
    tx.move(chat.branch_name, message.id)
    tx.publish("say", f"Wrote as {role}")
    return message.id
