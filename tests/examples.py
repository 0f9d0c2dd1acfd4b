"""How many examples Hypothesis tries where a hundred are too few or too many; `make test` takes a part of them."""

from __future__ import annotations

from hypothesis import settings

WHOLE = 100
"""What Hypothesis tries by itself."""
LEAST = 3


def examples(most: int) -> int:
    """As many of `most` as the profile takes of a hundred, and three at least.

    What has this is decorated after the profile is loaded.
    """
    return max(min(most, LEAST), most * settings().max_examples // WHOLE)
