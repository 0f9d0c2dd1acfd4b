"""Decides whether a conversation shows the content of a file, and if not, whether an undone import is the reason.

Messages are never removed, so stored messages need not be visible. What a person trashed or deleted stays hidden when
the file is imported again; what was undone with an import is restored.
"""

from __future__ import annotations

from collections.abc import Iterable

from forky_core.conversation.timeline import FOUNDING, STILL, Timeline
from forky_core.model import ConversationId, MessageId
from forky_core.model.graph import ancestors, parents_in
from forky_core.store.contract import Store

_NEVER_IN_FORCE = STILL | {"undo", "redo"}


def shows(store: Store, conversation: ConversationId, tips: Iterable[MessageId]) -> bool:
    """Whether all of these messages are visible there. A trashed conversation shows nothing."""
    view, messages = store.view(conversation), store.messages(conversation)
    if view.trashed:
        return False
    visible = ancestors((tip for tip in view.tips if tip in messages), parents_in(messages))
    return all(tip in visible for tip in tips)


def was_taken_back(store: Store, conversation: ConversationId, *, whatever_was_done: bool = False) -> bool:
    """Whether a conversation is in the trash because its import was undone, or a later import into it was undone.

    With `whatever_was_done`, every undone operation counts, because the log of a Forky file does not say which
    operations came by an import.
    """
    operations = store.operations(conversation)
    if store.view(conversation).trashed:
        return next(
            (
                bool(one.reverts)
                for one in reversed(operations)
                if any(c.key == "trashed" for c in one.changes)
            ),
            False,
        )
    in_force = Timeline().after(operations).in_force
    return any(
        one.number not in in_force
        for one in operations
        if one.number != FOUNDING
        and (one.verb not in _NEVER_IN_FORCE if whatever_was_done else one.verb == "import")
    )
