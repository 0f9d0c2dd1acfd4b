"""The part of an unfinished text that can be formatted already: its complete blocks.

A paragraph without an end, a list item, an open block of code would change their looks with every word.
"""

from __future__ import annotations

from forky_core.text.fences import parts


def settled(text: str) -> int:
    """Return the characters up to and including the last blank line outside code; 0 if there is none."""
    end = at = 0
    for line, part in parts(text.splitlines(keepends=True)):
        at += len(line)
        if part == "prose" and not line.strip() and line.endswith("\n"):
            end = at
    return end
