"""A question about several things, part by part: each is searched for and judged as if it had been asked alone.

“How long is the kettle's warranty, and which port does the build server use?” is answered in two places, and each holds
half of its words at most. The cut is by marks and conjunctions; a part that says too little goes with its neighbour, so
that a question about one thing has no parts.
"""

from __future__ import annotations

import re

from forky_core.retrieval.words import terms

_LEAST = 2
"""Terms of a part."""
_MOST = 4
"""Parts that are looked at; of a longer text the first ones."""
_ASIDE = re.compile(r"\([^()]*\)|（[^（）]*）")
"""In brackets stands what the rule of condense.py adds, and it is asked about by nobody."""
_CUT = re.compile(
    r"[.,;:!?](?=\s|$)|[。，、；：！？\n]|(?<=\s)(?:and|or|und|oder|sowie|et|ou|y|o|e|и|или)(?=\s)"
    r"|以及|还有|還有|另外|および|それと|그리고",
    re.IGNORECASE,
)


def parts_asked(question: str) -> tuple[str, ...]:
    """The parts of a question; () where it has one only."""
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
