"""A regular expression that a person typed, as what a bisection holds an answer against."""

from __future__ import annotations

import regex

from forky_core.conversation.merging.bisecting import Check
from forky_core.model.errors import BadContent

LONGEST_SEARCH = 1.0
"""Seconds a regular expression may take on one answer."""


def matches(pattern: str) -> Check:
    """Whether the regular expression is found in an answer.

    Raises BadContent where it is none, and so does the check where it takes longer than LONGEST_SEARCH.
    """
    try:
        compiled = regex.compile(pattern)
    except regex.error as error:
        raise BadContent(f"“{pattern[:80]}” is no regular expression: {error}.") from error

    def check(answer: str) -> bool:
        try:
            # Without the interpreter's lock: a hostile pattern holds up nobody else meanwhile.
            return compiled.search(answer, timeout=LONGEST_SEARCH, concurrent=True) is not None
        except TimeoutError as error:
            raise BadContent(
                f"“{pattern[:80]}” takes too long on an answer of {len(answer):,} characters.",
                "Write it without repetitions inside repetitions.",
            ) from error

    return check
