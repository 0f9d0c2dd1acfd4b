"""The lines of a payload that nobody said: what stands above a list of others."""

from __future__ import annotations

from forky_core.merge.claims.claim_set import SECTION_OF
from forky_core.model.payload_kinds import own_headings

ASKED = "Asked"
RESULT = "Result"
TRIED = "Tried and undone"
FACTS = "Facts"
OPEN = "Open"
FILES = "Files"
NOTE = (ASKED, TRIED, FACTS, RESULT, OPEN, FILES)
"""The sections of a squash, in the order they are shown; one without a line is left out."""
ATTACHED = "Attached"
NAMES = "Names"
"""The section of the ledger, for messages that nothing else is quoted of."""
SECTIONS = (
    "Decided",
    "Asked",
    "Errors",
    "Said",
    "Tools",
    ATTACHED,
    NAMES,
)
"""Of quoted lines, in the order they are shown."""
SETTLED = "Settled"
RESOLVED = f"{SETTLED}, where merged branches disagreed:"
"""How the payload begins that settles what merges left open and brings no branch."""
UNRESOLVED = "UNRESOLVED (both were said; neither has been decided)"
CORRECTS = "Corrects earlier merges"
"""The section with lines of earlier merges that hold no longer."""
OF_CLAIMS = (SETTLED, UNRESOLVED, *SECTION_OF.values())
"""Of what is told in other words, in the order it is shown."""
HEADINGS = frozenset(f"{title}:" for title in (*NOTE, *SECTIONS, *OF_CLAIMS, CORRECTS))
"""Whole lines, without those that a strategy has for itself."""
ALSO_SAID = "Also said:"
THEY_DISAGREE = "They disagree:"
"""Of a fusion that was put together by rule."""


def is_heading(line: str) -> bool:
    """Whether a line of a payload is a heading.

    A line of a message that reads like one is never quoted, so that a payload can be read back.
    """
    return line in HEADINGS or (line.endswith(":") and line in own_headings())
