"""How much of a path of message ids is stored, and which messages branch off it: shared by all stores."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from forky_core.model import Message, MessageId, PathOverlap


def path_overlap(
    messages: Mapping[MessageId, Message], path: Sequence[MessageId], most: int
) -> PathOverlap | None:
    """Compare a path with messages in memory; `None` if more than `most` messages branch off it.

    The messages that branch off are in the order they were written.
    """
    known = how_far(path, {id for id in path if id in messages and not messages[id].hidden})
    own = {None, *path[:known]}
    beside = [one for one in messages.values() if one.parent in own and one.id not in own]
    return PathOverlap(known, tuple(beside)) if len(beside) <= most else None


def how_far(path: Sequence[MessageId], shown: Container[MessageId]) -> int:
    """Count the leading ids of `path` that are stored. A stored message implies that its ancestors are stored."""
    return next((at for at, id in enumerate(path) if id not in shown), len(path))
