"""What a search means, apart from any engine: its words, when a text matches, how well, and the line it shows.

Every store uses these functions, so that they all find the same messages in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

SNIPPET_LENGTH = 200
_LEAD = 60
_SPACE = re.compile(r"\s")
_WORD = re.compile(r'"([^"]*)"?|([^\s"]+)')


def search_words(query: str) -> tuple[str, ...]:
    """The distinct words of a query in lower case; a text in double quotes is one word."""
    found = ((quoted or plain).strip().lower() for quoted, plain in _WORD.findall(query))
    return tuple(dict.fromkeys(word for word in found if word))


def score(text: str, words: Sequence[str]) -> float:
    """How often the words occur in total; 0.0 if one of them does not occur."""
    lowered = text.lower()
    counts = [lowered.count(word) for word in words]
    return float(sum(counts)) if all(counts) else 0.0


def snippet(text: str, words: Sequence[str]) -> str:
    """One line of at most 200 characters around the first match, starting at a word boundary if there is one."""
    lowered = text.lower()
    first = min((at for at in map(lowered.find, words) if at >= 0), default=0)
    start = first - _LEAD if first > _LEAD else 0
    if start and (space := _SPACE.search(text, start - 1, first)):
        start = space.end()
    line = " ".join(text[start : start + 2 * SNIPPET_LENGTH].split())
    head = "…" if start else ""
    cut = start + 2 * SNIPPET_LENGTH < len(text) or len(head) + len(line) > SNIPPET_LENGTH
    if cut:
        return head + line[: SNIPPET_LENGTH - len(head) - 1].rstrip() + "…"
    return head + line
