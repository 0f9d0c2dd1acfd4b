"""Answers of several models to one question, which a page draws side by side."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from forky_core.conversation.visible import Visible
from forky_core.model import Generation, Message


def answers_together(
    path: Sequence[Message], calls: Iterable[Generation], listed: Visible, branches: Collection[str]
) -> tuple[Generation, ...]:
    """Return the newest call on each branch that answers the last question of `path`; () if fewer than two do.

    An answer on which somebody went on is left out, and so is a failed or running call of a branch that is not in
    `branches`. `calls` are in the order in which they began, and so is the result.
    """
    question = path[-1].id if path[-1].role == "user" else path[-1].parent
    newest: dict[str, Generation] = {}
    for call in calls:
        if call.parent == question and (
            call.message in listed.messages and not listed.children.get(call.message)
            if call.message
            else call.branch in branches
        ):
            newest[call.branch] = call
    found = {call.message or call.id: call for call in newest.values()}
    ends = path[-1].id == question or path[-1].id in found
    return tuple(found.values()) if len(found) > 1 and ends else ()
