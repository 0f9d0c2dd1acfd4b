"""Finds where an array belongs by ids and by the graph of the conversation, without reading messages.

Ids name content to the last byte, so the stored ids of an array are a path with exactly its content. It is the only
such path if no message that branches off it begins as the array goes on: then this finds the same place as walking down
the conversation (walking.py), without reading it. If ids do not decide, it returns None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from forky_core.matching.finding import PlaceMatch
from forky_core.matching.keys import calls_of, folded, plain_text, sayings
from forky_core.matching.walking import is_silent
from forky_core.model import Message, MessageId, PathOverlap
from forky_core.model.hashing import path_ids
from forky_core.model.parts import Draft

FEW = 8
"""How many messages may branch off the path and be compared by their text; with more, `match` reads everything at
once."""


def match_by_ids(
    turns: Sequence[Draft], along: Callable[[Sequence[MessageId]], PathOverlap | None]
) -> PlaceMatch | None:
    """Find where `turns` belong, with the same result as `match`; None if ids alone do not decide.

    `along` returns how far a path is stored, or None if more than `FEW` messages branch off it.
    """
    if any(turn.role == "system" for turn in turns):
        return None
    path = [MessageId(id) for id in path_ids(turns)]
    found = along(path)
    if found is None or not found.stored:
        return None  # If nothing is stored, the array's head may have been trimmed.
    turn_below: dict[MessageId | None, int] = {id: at for at, id in enumerate(path[: found.stored], start=1)}
    for other in found.branching:
        at = turn_below.get(other.parent, 0)
        if is_silent(other) or (at < len(turns) and _begins_alike(turns, at, other)):
            return None
    return PlaceMatch(path[found.stored - 1], found.stored)


def _begins_alike(turns: Sequence[Draft], at: int, other: Message) -> bool:
    """Whether a message beside a turn begins with the same content as the turn."""
    turn = turns[at]
    text, others = plain_text(turn), plain_text(other)
    if text is not None and others is not None:
        return turn.role == other.role and folded(text) == folded(others)
    calls: dict[str, int] = {}
    for above in turns[:at]:
        calls.update(calls_of(above))
    return sayings(turn, calls.get)[0] == sayings(other, calls.get)[0]
