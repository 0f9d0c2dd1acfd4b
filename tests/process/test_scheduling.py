from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from forky_core.process import scheduling
from forky_core.process.scheduling import (
    LONGEST_YIELD,
    MOST_FOREGROUND,
    SHORT_INTERVAL,
    BackgroundTurns,
    foreground,
    gc_paused,
    short_switch_interval,
)
from tests.loops import finished

NEARLY = 2e-6
"""Python keeps whole microseconds, rounded down."""


def turn() -> float:
    return sys.getswitchinterval()


@pytest.fixture
def tuned(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the app."""
    monkeypatch.setattr(scheduling, "_tuned", True)


@pytest.fixture
def usual(tuned: None) -> Iterator[float]:
    before = turn()
    yield before
    sys.setswitchinterval(before)


def test_turns_are_short_until_the_last_block_ends(usual: float) -> None:
    first, second = short_switch_interval(), short_switch_interval()
    first.__enter__()
    assert turn() == pytest.approx(SHORT_INTERVAL, abs=NEARLY)
    second.__enter__()
    first.__exit__(None, None, None)
    assert turn() == pytest.approx(SHORT_INTERVAL, abs=NEARLY)
    second.__exit__(None, None, None)
    assert turn() == pytest.approx(usual, abs=NEARLY)


def test_turns_are_usual_while_many_pages_run(usual: float) -> None:
    with ExitStack() as pages:
        with short_switch_interval():
            for _ in range(MOST_FOREGROUND):
                pages.enter_context(foreground())
                assert turn() == pytest.approx(SHORT_INTERVAL, abs=NEARLY)
            with foreground():
                assert turn() == pytest.approx(usual, abs=NEARLY)
            assert turn() == pytest.approx(SHORT_INTERVAL, abs=NEARLY)
        with foreground():
            assert turn() == pytest.approx(usual, abs=NEARLY)
            with short_switch_interval():
                assert turn() == pytest.approx(usual, abs=NEARLY)


def test_turns_are_as_they_were_after_a_failure(usual: float) -> None:
    with pytest.raises(ImportError), short_switch_interval():
        raise ImportError("There is no such module.")
    assert turn() == pytest.approx(usual, abs=NEARLY)


@pytest.mark.usefixtures("usual")
def test_turns_that_are_shorter_still_stay() -> None:
    sys.setswitchinterval(SHORT_INTERVAL / 5)
    with short_switch_interval():
        assert turn() == pytest.approx(SHORT_INTERVAL / 5, abs=NEARLY)
    assert turn() == pytest.approx(SHORT_INTERVAL / 5, abs=NEARLY)


def test_without_tuning_neither_the_turns_nor_the_collector_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduling, "_tuned", False)
    before = turn()
    with short_switch_interval(), gc_paused():
        assert turn() == before and gc.isenabled()


@gc_paused()
def fail() -> None:
    assert not gc.isenabled()
    raise ValueError("damaged")


@pytest.mark.usefixtures("tuned")
def test_the_collector_is_off_meanwhile_and_on_afterwards_also_when_it_fails() -> None:
    assert gc.isenabled()
    with pytest.raises(ValueError, match="damaged"):
        fail()
    assert gc.isenabled()


@pytest.mark.usefixtures("tuned")
def test_a_collector_that_somebody_else_turned_off_stays_off() -> None:
    gc.disable()
    try:
        with gc_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


class Clock:
    """Stands for what the module asks of `time` and `asyncio`; the hours pass by sleeping."""

    class Thread:
        """Stands for `time` alone, whose `sleep` is not awaited."""

        def __init__(self, clock: Clock) -> None:
            self.monotonic, self._clock = clock.monotonic, clock

        def sleep(self, seconds: float) -> None:
            finished(self._clock.sleep(seconds))

    def __init__(self) -> None:
        self.now = 100.0
        self.dawn: Callable[[], None] = lambda: None
        """Called after each sleep."""

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.dawn()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(scheduling, "time", Clock.Thread(clock))
    monkeypatch.setattr(scheduling, "asyncio", clock)
    monkeypatch.setattr(scheduling, "_foreground_ended", float("-inf"))
    return clock


def waited(turns: BackgroundTurns, clock: Clock) -> float:
    begun = clock.now
    finished(turns.yield_to_foreground())
    return clock.now - begun


def test_background_work_waits_for_nothing_where_nothing_goes_ahead(clock: Clock) -> None:
    assert waited(BackgroundTurns(), clock) == 0


def test_background_work_lets_a_page_by_and_goes_on_soon_after_it(clock: Clock) -> None:
    page = foreground()
    page.__enter__()
    passed: list[float] = []

    def pass_by() -> None:
        if not passed:
            passed.append(clock.now)
            page.__exit__(None, None, None)

    clock.dawn = pass_by
    turns = BackgroundTurns()
    waited(turns, clock)
    assert passed[0] < clock.now < passed[0] + LONGEST_YIELD
    assert waited(turns, clock) == 0


def test_background_work_gets_half_of_the_time_whatever_goes_ahead(clock: Clock) -> None:
    turns = BackgroundTurns()
    with foreground():
        yielded = waited(turns, clock)
        assert LONGEST_YIELD <= yielded < 2 * LONGEST_YIELD
        assert waited(turns, clock) == 0
        clock.now += yielded * 0.9
        assert waited(turns, clock) == 0
        clock.now += yielded * 0.2
        assert waited(turns, clock) >= LONGEST_YIELD


def test_a_thread_that_nobody_waits_for_lets_a_page_by_too(clock: Clock) -> None:
    turns = BackgroundTurns()
    with foreground():
        turns.yield_to_foreground_in_thread()
    assert LONGEST_YIELD <= clock.now - 100.0 < 2 * LONGEST_YIELD


def test_what_failed_goes_ahead_no_longer(clock: Clock) -> None:
    with pytest.raises(ValueError, match="damaged"), foreground():
        raise ValueError("damaged")
    assert waited(BackgroundTurns(), clock) < LONGEST_YIELD
