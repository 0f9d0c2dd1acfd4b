"""What of a text that is still being written can be formatted already: its whole blocks.

A paragraph that has not ended, a list item, an open block of code would change their looks with every word.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"[ >]*(?:(?:[-*+]|\d{1,9}[.)]) +)*(`{3,}(?=[^`]*$)|~{3,})(.*)")


def settled(text: str) -> int:
    """Characters up to and with the last blank line that stands outside of code; 0 where there is none."""
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
