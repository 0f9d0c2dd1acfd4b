"""Finds conversations by their titles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forky_core.cli.plain import one_line
from forky_core.model.errors import Ambiguous, NotFound

if TYPE_CHECKING:
    from forky_core.conversation.conversation import Conversation
    from forky_core.forky import Forky


def conversation_called(forky: Forky, name: str, branch: str | None = None) -> Conversation:
    """Open a conversation by its id, the beginning of its id, or its whole title; `branch` is checked out.

    Raises:
        NotFound: there is no such conversation, or branch of it.
        Ambiguous: several ids begin like this, or several conversations have this title.
    """
    try:
        return forky.conversation(name, branch)
    except NotFound:
        title = one_line(name)
        fitting = [one.id for one in forky.conversations() if title and one_line(one.title) == title]
        if not fitting:
            raise
        if len(fitting) > 1:
            raise Ambiguous(
                f"{len(fitting)} conversations are called “{title}”.", fitting, "Give the beginning of an id."
            ) from None
    return forky.conversation(fitting[0], branch)
