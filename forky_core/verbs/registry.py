"""The verbs there are. Each appears at `/mcp`, at `/api/v1` and on the command line from being named here."""

from __future__ import annotations

from forky_core.verbs.merging import MERGING
from forky_core.verbs.reading import READING
from forky_core.verbs.verb import RegisteredVerb
from forky_core.verbs.writing import WRITING

VERBS: tuple[RegisteredVerb, ...] = (*READING, *WRITING, *MERGING)


def verbs() -> tuple[RegisteredVerb, ...]:
    """Every verb, in the order in which they are listed."""
    return VERBS
