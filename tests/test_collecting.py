from __future__ import annotations

import gc

import pytest

from forky_core.collecting import uncollected


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
