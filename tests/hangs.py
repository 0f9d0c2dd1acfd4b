"""The one time limit of the tests.

A test waits for an event: a line that a program prints, a job's end, a page's answer. The limit is there so that a
test whose event never comes fails with its own name instead of keeping the others waiting. It says nothing about speed:
it is four times what the slowest wait has needed on two cores with sixteen other programs at work. What waits without a
limit is ended by pytest-timeout, whose limit for a whole test is longer (pyproject.toml).
"""

from __future__ import annotations

import time
from collections.abc import Callable

HANG = 600.0
"""Seconds after which what a test waits for is taken not to come any more."""


def eventually(holds: Callable[[], object]) -> None:
    """Wait until something holds that no event tells of."""
    end = time.monotonic() + HANG
    while not holds():
        assert time.monotonic() < end, "It did not come to be."
        time.sleep(0.01)
