"""Whether the words that an array without its head shares with a stored path tell that path from a stranger's.

People and models say the same short and stock phrases in every conversation ("continue", "Done.", "Sure, I can help
with that."), so such words prove nothing about where an array comes from. Two turns that nobody else says do
(docs/design/two-turns-prove-a-trimmed-array.md has the measurements).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

from forky_core.matching.keys import spoken
from forky_core.model import Message

SHORT: Final = 8
"""Columns of text below which a turn proves nothing: nearly all that people say so briefly, they say often."""
LONG: Final = 24
"""Columns from which on a turn counts in full."""
_WORTH_SHORT: Final = 1
_WORTH_LONG: Final = 3
_ENOUGH: Final = 6
"""Two long turns, or six short ones."""
_MOST_ASKED: Final = 6
"""Turns of which `is_common` is asked at most."""


def worth(text: str) -> int:
    """How much it proves that two sides say this: 0 for a very short text, 3 for a long one, 1 for what lies between.

    A Chinese, Japanese or Korean character takes two columns.
    """
    columns = sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in islice(text, LONG))
    return _WORTH_LONG if columns >= LONG else _WORTH_SHORT if columns >= SHORT else 0


def is_distinctive(shared: Sequence[Message], is_common: Callable[[Message], bool]) -> bool:
    """Whether `shared`, the stored messages that an array agrees with, say enough that is said nowhere else.

    `is_common` says whether other conversations say the same as a message; that may be slow, so it is asked of few
    messages, the longest first. A text that is repeated counts once. Only words count: a tool's call and its result
    are the same for everybody who works on the same files.
    """
    told: dict[str, tuple[int, Message]] = {}
    for message in shared:
        text = spoken(message)
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
