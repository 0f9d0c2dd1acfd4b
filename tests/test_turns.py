from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from forky_core.turns import SECONDS, short_turns

NEARLY = 2e-6
"""Python keeps whole microseconds, rounded down."""


def turn() -> float:
    return sys.getswitchinterval()


@pytest.fixture(autouse=True)
def usual() -> Iterator[float]:
    before = turn()
    yield before
    sys.setswitchinterval(before)


def test_turns_are_short_until_the_last_has_left(usual: float) -> None:
    first, second = short_turns(), short_turns()
    first.__enter__()
    assert turn() == pytest.approx(SECONDS, abs=NEARLY)
    second.__enter__()
    first.__exit__(None, None, None)
    assert turn() == pytest.approx(SECONDS, abs=NEARLY)
    second.__exit__(None, None, None)
    assert turn() == pytest.approx(usual, abs=NEARLY)


def test_turns_are_as_they_were_after_a_failure(usual: float) -> None:
    with pytest.raises(ImportError), short_turns():
        raise ImportError("There is no such module.")
    assert turn() == pytest.approx(usual, abs=NEARLY)


def test_turns_that_are_shorter_still_stay() -> None:
    sys.setswitchinterval(SECONDS / 5)
    with short_turns():
        assert turn() == pytest.approx(SECONDS / 5, abs=NEARLY)
    assert turn() == pytest.approx(SECONDS / 5, abs=NEARLY)
