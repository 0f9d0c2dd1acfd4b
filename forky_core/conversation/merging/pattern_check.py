"""A regular expression as the check of a bisection."""

from __future__ import annotations

import regex

from forky_core.conversation.merging.bisecting import Check
from forky_core.model.errors import BadContent

LONGEST_SEARCH = 1.0
"""The most seconds that a regular expression may take on one answer."""


def matches(pattern: str) -> Check:
    """A check that passes if the regular expression matches somewhere in an answer.

    Raises BadContent for an invalid expression. The check raises it, too, if matching takes longer than LONGEST_SEARCH.
    """
    try:
        compiled = regex.compile(pattern)
    except regex.error as error:
        raise BadContent(f"“{pattern[:80]}” is no regular expression: {error}.") from error

    def check(answer: str) -> bool:
        try:
            # It runs without the interpreter's lock, so that a hostile pattern does not delay other threads.
            return compiled.search(answer, timeout=LONGEST_SEARCH, concurrent=True) is not None
        except TimeoutError as error:
            raise BadContent(
                f"“{pattern[:80]}” takes too long on an answer of {len(answer):,} characters.",
                "Write it without repetitions inside repetitions.",
            ) from error

    return check
