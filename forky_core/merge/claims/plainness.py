"""How plainly two pieces state something, and how plainly they must, given how much there is to compare.

Two long branches share so many words that some of their sentences differ by chance in a number or in a "not". A plain
statement of a person or a model is a short, whole sentence of prose with the same words; a chance difference is a long
line, a line of code, a list, or a tool's output. The weights were fitted on both: contradicting pairs of MergeBench,
also with the talk of real sessions before them, against pairs of branches cut from real coding sessions.
"""

from __future__ import annotations

import math
import re

from forky_core.merge.claims.pieces import NUMERAL, Clause
from forky_core.merge.claims.word_keys import ATTRIBUTES

SHORT = 40
"""The longest piece, in bytes, whose length does not count against it."""
_MOST_SHARED = 3
_MOST_CODE = 0.3
_CODE_SIGNS = re.compile(r"[^\w\s.,;:'’\"“”„!?¿¡%€$£°–—。，、：；！？「」（）-]|_")


def plainness(mine: Clause, theirs: Clause) -> float:
    """Score how plainly two pieces state something about the same subject, usually between -5 and 5."""
    both = (mine, theirs)
    shared = len((subject(mine) & subject(theirs)) - ATTRIBUTES)
    longest = max(len(piece.text.encode()) for piece in both)
    tools = sum(piece.passage.role == "tool" for piece in both)
    return (
        1.4
        + 0.3 * min(shared, _MOST_SHARED)
        + 0.5 * (mine.head != "" and mine.head == theirs.head)
        + 0.6 * any(piece.keeps for piece in both)
        + 0.2 * any(piece.changes for piece in both)
        + 1.1 * sum(map(_is_whole, both))
        - 3.8 * math.log(max(1.0, longest / SHORT))
        - 1.4 * sum(piece.passage.shape != "prose" for piece in both)
        - (0.0, 1.0, 2.4)[tools]
        - 1.1 * any(NUMERAL.match(piece.text) for piece in both)
        - 1.2 * sum(piece.text.endswith((":", "：")) for piece in both)
        - 14.0 * min(_MOST_CODE, sum(_code(piece.text) for piece in both))
    )


def needed(pairs: int) -> float:
    """Return the plainness from which on a difference is shown, given the number of compared pairs."""
    return math.log10(max(1, pairs)) - 3.0


def subject(piece: Clause) -> frozenset[str]:
    """Return the words of a piece, with those of its question if it is an answer or has no subject of its own."""
    own = piece.own
    return own | piece.asked if piece.answers or not own - ATTRIBUTES else own


def _is_whole(piece: Clause) -> bool:
    """Whether a piece is its whole sentence."""
    return piece.text == piece.passage.text.lstrip("-*• ")


def _code(text: str) -> float:
    """Return the share of characters that are unusual in prose."""
    return len(_CODE_SIGNS.findall(text)) / max(1, len(text))
