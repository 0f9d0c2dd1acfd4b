"""Values that are kept for a while and taken once."""

from __future__ import annotations

from forky_core.gateway.access.ways.once import MOST, Once


def test_a_value_can_be_taken_once_and_in_time() -> None:
    now = [0.0]
    once: Once[str] = Once(60, clock=lambda: now[0])
    first, second = once.keep("first"), once.keep("second")
    assert first != second and len(first) == 43
    assert once.take(first) == "first"
    assert once.take(first) is None and once.take("unknown") is None
    now[0] = 60.0
    assert once.take(second) is None


def test_nobody_fills_the_place_of_everybody_else() -> None:
    now = [0.0]
    once: Once[str] = Once(60, clock=lambda: now[0])
    mine = once.keep("mine", "192.0.2.1")
    theirs = [once.keep("theirs", "192.0.2.2") for _ in range(MOST + 50)]
    assert once.take(theirs[0]) is None and once.take(theirs[-1]) == "theirs"
    assert once.take(mine) == "mine"
    now[0] = 61.0
    assert once.keep("theirs", "192.0.2.2") and len(once._kept) == 1


def test_too_many_drop_the_oldest_and_what_has_expired_goes_by_itself() -> None:
    now = [0.0]
    once: Once[int] = Once(60, clock=lambda: now[0])
    keys = [once.keep(number) for number in range(MOST + 1)]
    assert once.take(keys[0]) is None and once.take(keys[1]) == 1 and once.take(keys[-1]) == MOST
    now[0] = 61.0
    once.keep(0)
    assert len(once._kept) == 1
