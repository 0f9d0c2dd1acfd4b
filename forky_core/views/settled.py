"""The part of an unfinished text that can be formatted already: its complete blocks.

A paragraph without an end, a list item, an open block of code would change their looks with every word.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"[ >]*(?:(?:[-*+]|\d{1,9}[.)]) +)*(`{3,}(?=[^`]*$)|~{3,})(.*)")


def settled(text: str) -> int:
    """Return the characters up to and including the last blank line outside code; 0 if there is none."""
    end = at = 0
    fence = ""
    for line in text.splitlines(keepends=True):
        at += len(line)
        bare = line.strip()
        if not bare:
            if not fence and line.endswith("\n") and end < at:
                end = at
        elif (found := _FENCE.match(line.rstrip())) is not None:
            if not fence:
                fence = found[1]
            elif found[1].startswith(fence) and not found[2]:
                fence = ""
    return end
