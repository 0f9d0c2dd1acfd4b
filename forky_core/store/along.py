"""How far a path that somebody spells by its ids is stored, and what leaves it: the same for every store."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from forky_core.model import Along, Message, MessageId


def along_in(messages: Mapping[MessageId, Message], path: Sequence[MessageId], most: int) -> Along | None:
    """Of messages in memory, in the order they were written; None where more than `most` leave the path."""
    known = how_far(path, {id for id in path if id in messages and not messages[id].hidden})
    own = {None, *path[:known]}
    beside = [one for one in messages.values() if one.parent in own and one.id not in own]
    return Along(known, tuple(beside)) if len(beside) <= most else None


def how_far(path: Sequence[MessageId], shown: Container[MessageId]) -> int:
    """How many of its messages are there: every beginning of a known path is known."""
    return next((at for at, id in enumerate(path) if id not in shown), len(path))
