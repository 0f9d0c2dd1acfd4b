from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest

from forky_core.interpreter import TURN, short_turns, uncollected

NEARLY = 2e-6
"""Python keeps whole microseconds, rounded down."""


def turn() -> float:
    return sys.getswitchinterval()


@pytest.fixture
def usual() -> Iterator[float]:
    before = turn()
    yield before
    sys.setswitchinterval(before)


def test_turns_are_short_until_the_last_has_left(usual: float) -> None:
    first, second = short_turns(), short_turns()
    first.__enter__()
    assert turn() == pytest.approx(TURN, abs=NEARLY)
    second.__enter__()
    first.__exit__(None, None, None)
    assert turn() == pytest.approx(TURN, abs=NEARLY)
    second.__exit__(None, None, None)
    assert turn() == pytest.approx(usual, abs=NEARLY)


def test_turns_are_as_they_were_after_a_failure(usual: float) -> None:
    with pytest.raises(ImportError), short_turns():
        raise ImportError("There is no such module.")
    assert turn() == pytest.approx(usual, abs=NEARLY)


@pytest.mark.usefixtures("usual")
def test_turns_that_are_shorter_still_stay() -> None:
    sys.setswitchinterval(TURN / 5)
    with short_turns():
        assert turn() == pytest.approx(TURN / 5, abs=NEARLY)
    assert turn() == pytest.approx(TURN / 5, abs=NEARLY)


@uncollected()
def fail() -> None:
    assert not gc.isenabled()
    raise ValueError("damaged")


def test_the_collector_is_off_meanwhile_and_on_afterwards_also_when_it_fails() -> None:
    assert gc.isenabled()
    with pytest.raises(ValueError, match="damaged"):
        fail()
    assert gc.isenabled()


def test_a_collector_that_somebody_else_turned_off_stays_off() -> None:
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
