"""Splits a question about several things into parts, each of which is searched for and judged as if asked alone.

“How long is the kettle's warranty, and which port does the build server use?” is answered in two places, and each has
half of its words at most. It is split at punctuation and conjunctions; a part with too few terms is joined to its
neighbour, so that a question about one thing has no parts.
"""

from __future__ import annotations

import re

from forky_core.text.words import terms

_LEAST = 2
"""The fewest terms of a part."""
_MOST = 4
"""The most parts that are searched; of a longer text the first ones."""
_ASIDE = re.compile(r"\([^()]*\)|（[^（）]*）")
"""The words in brackets are those that condense.py adds; nobody asked about them."""
_CUT = re.compile(
    r"[.,;:!?](?=\s|$)|[。，、；：！？\n]|(?<=\s)(?:and|or|und|oder|sowie|et|ou|y|o|e|и|или)(?=\s)"
    r"|以及|还有|還有|另外|および|それと|그리고",
    re.IGNORECASE,
)


def parts_asked(question: str) -> tuple[str, ...]:
    """Return the parts of a question; () if it has only one."""
    parts: list[str] = []
    pending = ""
    for piece in _CUT.split(_ASIDE.sub(" ", question)):
        pending = f"{pending} {piece}".strip()
        if len(set(terms(pending))) >= _LEAST:
            parts.append(pending)
            pending = ""
    if pending and parts:
        parts[-1] += f" {pending}"
    return tuple(parts[:_MOST]) if len(parts) > 1 else ()
