"""Notes of a speaker, each at a message: shown while the conversation is presented, and never sent to a model."""

from __future__ import annotations

from forky_core.conversation.session import Session, short
from forky_core.model import MessageId, Operation
from forky_core.model.errors import BadContent, NothingToDo
from forky_core.model.hashing import mend_text

LONGEST = 20_000
"""Characters of one note."""


def note(session: Session, message: MessageId, text: str) -> Operation:
    """Write the note at a message; an empty text removes it."""
    said = mend_text(text).strip()
    if len(said) > LONGEST:
        raise BadContent(f"A note has at most {LONGEST:,} characters.", "Shorten it.")
    tx = session.require_not_trashed()
    tx.set(f"notes/{message}", said or None)
    if not tx.changes:
        raise NothingToDo("The note says that already.")
    what = "Wrote the speaker's note" if said else "Removed the speaker's note"
    return tx.publish("note", f"{what} at {short(message)}")
