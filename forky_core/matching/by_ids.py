"""Where an array belongs, settled by its ids and by how the conversation hangs together, without reading what it says.

Ids name content to the last byte, so an array's ids that are stored are a path that says what it says. It is the only
such path where nothing that leaves it begins as the array goes on: then this finds what walking down a conversation
finds (walking.py), and none of it need be read. Where ids do not settle it, it says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from forky_core.matching.finding import PlaceMatch
from forky_core.matching.keys import calls_of, folded, plain_text, sayings
from forky_core.matching.walking import is_silent
from forky_core.model import Along, Message, MessageId
from forky_core.model.hashing import path_ids
from forky_core.model.parts import Draft

FEW = 8
"""Messages that leave the path, whose words are looked at; with more of them all is read at once."""


def match_by_ids(
    turns: Sequence[Draft], along: Callable[[Sequence[MessageId]], Along | None]
) -> PlaceMatch | None:
    """As `match`; None where ids do not settle it.

    `along` says how far a path is stored; None where more than `FEW` messages leave it.
    """
    if any(turn.role == "system" for turn in turns):
        return None
    path = [MessageId(id) for id in path_ids(turns)]
    found = along(path)
    if found is None or not found.known:
        return None  # Where nothing is known, the array's head may have been trimmed.
    turn_below: dict[MessageId | None, int] = {id: at for at, id in enumerate(path[: found.known], start=1)}
    for other in found.beside:
        at = turn_below.get(other.parent, 0)
        if is_silent(other) or (at < len(turns) and _begins_alike(turns, at, other)):
            return None
    return PlaceMatch(path[found.known - 1], found.known)


def _begins_alike(turns: Sequence[Draft], at: int, other: Message) -> bool:
    """Whether the first thing that a message beside a turn says is the first thing that the turn says."""
    turn = turns[at]
    text, others = plain_text(turn), plain_text(other)
    if text is not None and others is not None:
        return turn.role == other.role and folded(text) == folded(others)
    calls: dict[str, int] = {}
    for above in turns[:at]:
        calls.update(calls_of(above))
    return sayings(turn, calls.get)[0] == sayings(other, calls.get)[0]
