"""A hidden message, as an import brings it."""

from __future__ import annotations

from forky_core.conversation.conversation import Conversation
from forky_core.conversation.workspace import Workspace
from forky_core.model import Change, MessageId, seal
from forky_core.model.parts import Draft, TextPart
from forky_core.store.contract import Commit


def with_hidden(forky: Workspace, chat: Conversation, text: str) -> MessageId:
    """Put a message that the notebook does not show at the end of a branch; returns its id."""
    head = chat.head
    assert head is not None
    hidden = seal(Draft("user", (TextPart(text),)), (head.id,), hidden=True)
    key = f"heads/{chat.branch_name}"
    change = Change(key, chat.view.entries[key], {"at": hidden.id})
    forky.store.commit(Commit(chat.id, "import", "", (change,), (hidden,)))
    return hidden.id
