"""Whether the texts that an array without its head shares with a stored path are enough to identify that path.

People and models say the same short and stock phrases in every conversation ("continue", "Done.", "Sure, I can help
with that."), so such texts prove nothing about where an array comes from. Two turns that no other conversation has are
proof: an array that is filed below a stranger's conversation is worse than one that becomes a conversation of its own,
which somebody can merge later.

Length alone does not tell the two apart, and in a new database every text is rare, so both are asked for. In a real
coding log, half of the texts of 24 to 31 characters recur in another session. Of its arrays of four turns without their
head, 98 % are found and 1.5 % are filed below a stranger's (`python -m bench matching`). A list of stock phrases would
know one language only.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

from forky_core.matching.keys import comparable_text
from forky_core.model import Message

SHORT: Final = 8
"""Columns of text below which a turn proves nothing: most texts this short occur in many conversations."""
LONG: Final = 24
"""Columns from which on a turn has its full weight."""
_WORTH_SHORT: Final = 1
_WORTH_LONG: Final = 3
_ENOUGH: Final = 6
"""Two long turns, or six short ones."""
_MOST_ASKED: Final = 6
"""The most turns for which `is_common` is called."""


def worth(text: str) -> int:
    """Return how much it proves that two sides share this text: 0 for a very short one, 3 for a long one, 1 between.

    A Chinese, Japanese or Korean character takes two columns.
    """
    columns = sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in islice(text, LONG))
    return _WORTH_LONG if columns >= LONG else _WORTH_SHORT if columns >= SHORT else 0


def is_distinctive(shared: Sequence[Message], is_common: Callable[[Message], bool]) -> bool:
    """Whether `shared`, the stored messages that an array agrees with, say enough that no other conversation says.

    `is_common` returns whether other conversations have the same message. It may be slow, so it is called for few
    messages, the longest first. A repeated text counts once. Only text counts: a tool's call and its result are the
    same for everybody who works on the same files.
    """
    told: dict[str, tuple[int, Message]] = {}
    for message in shared:
        text = comparable_text(message)
        if value := worth(text):
            told.setdefault(text, (value, message))
    asked = sorted(told.values(), key=lambda one: -one[0])[:_MOST_ASKED]
    possible, proved = sum(value for value, _ in asked), 0
    for value, message in asked:
        if possible < _ENOUGH:
            return False
        if is_common(message):
            possible -= value
            continue
        proved += value
        if proved >= _ENOUGH:
            return True
    return False
