"""Finds the messages of a session's file among those that the calls of the same session recorded.

A file has a line for each piece of a reply, and reminders in lines of their own; a call has whole messages, with the
reminders around the person's words. So a message of the file may be a piece of a stored one, and what it holds of
surroundings alone stands in none.
"""

from __future__ import annotations

from collections.abc import Sequence

from forky_core.matching.rewritten import (
    Likeness,
    Messages,
    beginnings,
    following,
    is_thought,
    is_unspoken,
    likeness,
    pieces,
)
from forky_core.matching.walking import Tree, is_silent
from forky_core.model import Message, MessageId
from forky_core.model.parts import MergePart
from forky_core.model.payload_kinds import COMPACTION


def find_recorded(
    messages: Sequence[Message], stored: Messages, end: tuple[MessageId, MessageId] | None = None
) -> dict[MessageId, MessageId | None]:
    """Return the stored message that each message of a file is, or is a piece of. One that only holds surroundings
    stands where the message above it does; what is missing, with all below it, was said where no call recorded it.

    `messages` come parents first. `end` is the message up to which Forky wrote the file, and the stored one from which
    it did: what stands up to there is no news, whatever it says.
    """
    parents = {message.id: message.parent for message in messages}
    written: set[MessageId] = set()
    above = end[0] if end is not None else None
    while above is not None and above in parents:
        written.add(above)
        above = parents[above]
    tree = Tree()
    tree.take(stored)
    stands: dict[MessageId, MessageId | None] = {}
    for message in messages:
        if message.parent is not None and message.parent not in stands:
            continue
        at = stands[message.parent] if message.parent is not None else None
        if end is not None and message.id == end[0]:
            stands[message.id] = end[1]
        elif message.id in stored:
            stands[message.id] = message.id
        elif (found := _find(message, at, tree, stored)) is not None:
            stands[message.id] = found
        elif _holds_nothing(message) or message.id in written:
            stands[message.id] = at
    return stands


def _find(message: Message, at: MessageId | None, tree: Tree, stored: Messages) -> MessageId | None:
    if message.role == "system" or is_unspoken(message):
        return None
    below = following(at, tree, stored, _is_passed)
    if at is None:  # The file of a session that goes on from another one may begin with a summary.
        below += beginnings(stored, COMPACTION.name)
    for one in below:
        if likeness(message, one, _unknown, _unknown) >= Likeness.RESPELLED:
            return one.id
    said = pieces(message)
    above = [stored[at]] if at is not None else []
    # What the message above is a piece of, too; a compaction stands for the messages that were kept beside it.
    kept = [id for one in above if (part := _compaction(one)) for id in map(MessageId, part.messages)]
    if any(id in stored and said == pieces(stored[id]) for id in kept):
        return at
    for one in (*below, *above) if message.role != "user" else ():
        if said and one.role == message.role and said <= pieces(one):
            return one.id
    return None


def _unknown(_id: str) -> None:
    """Leaves the ids of calls as they are: a program has the same ones in its file and in its calls."""


def _compaction(message: Message) -> MergePart | None:
    return next((part for part in message.merges if part.strategy == COMPACTION.name), None)


def _is_passed(message: Message) -> bool:
    return _compaction(message) is not None or is_unspoken(message) or is_thought(message)


def _holds_nothing(message: Message) -> bool:
    return is_silent(message) or is_unspoken(message) or is_thought(message)
