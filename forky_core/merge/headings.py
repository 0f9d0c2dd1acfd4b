"""The lines of a payload that are no one's words: headings above other lines."""

from __future__ import annotations

from forky_core.model.payload_kinds import own_headings

ASKED = "Asked"
RESULT = "Result"
TRIED = "Tried and undone"
FACTS = "Facts"
SAID = "Said"
"""The section of what people and models said, in its order."""
OPEN = "Open"
FILES = "Files"
NOTE = (SAID, ASKED, TRIED, FACTS, RESULT, OPEN, FILES)
"""The sections of a squash, in the order they are shown: `SAID` and `FILES` today, the others in earlier versions."""
ATTACHED = "Attached"
NAMES = "Names"
"""The section for messages from which nothing else is quoted."""
SECTIONS = (
    "Decided",
    "Asked",
    "Errors",
    "Tools",
    ATTACHED,
    NAMES,
)
"""Headings of quoted lines, in the order they are shown."""
SETTLED = "Settled"
RESOLVED = f"{SETTLED}, where merged branches disagreed:"
"""The first line of a payload that settles earlier conflicts and brings no branch."""
UNRESOLVED = "UNRESOLVED (both were said; neither has been decided)"
WRITTEN = "Note"
"""The heading of a note that a model wrote, where other lines stand above it."""
CORRECTS = "Corrects earlier merges"
"""The section for lines of earlier merges that no longer hold."""
OF_FORMER_CLAIMS = (
    "Constraints",
    "Corrections",
    "Decisions",
    "Results",
    "Word for word",
    "Tried without success",
    "Open questions",
    "To do",
    "Preferences",
    "Facts",
)
"""Headings of former merges, whose lines were claims."""
OF_CLAIMS = (SETTLED, UNRESOLVED, *OF_FORMER_CLAIMS)
"""Headings of lines that no message says word for word, in the order they are shown."""
HEADINGS = frozenset(f"{title}:" for title in (*NOTE, *SECTIONS, *OF_CLAIMS, WRITTEN, CORRECTS))
"""Headings as whole lines, without those of single strategies."""
ALSO_SAID = "Also said:"
THEY_DISAGREE = "They disagree:"
"""Headings of a fusion made by rule."""


def is_heading(line: str) -> bool:
    """Whether a line of a payload is a heading.

    A line of a message that looks like one is never quoted, so that a payload can be parsed.
    """
    return line in HEADINGS or (line.endswith(":") and line in own_headings())
