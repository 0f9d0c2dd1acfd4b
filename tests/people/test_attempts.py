"""Attempts are counted alike in memory and with the people of a team."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from forky_core.people.attempts import IN_ALL, PER_CLIENT, WINDOW, AttemptKind, Attempts, TooManyAttempts
from forky_core.people.team import Team

Make = Callable[[AttemptKind], Attempts]


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def seconds(self) -> float:
        return self.now

    def micro(self) -> int:
        return round(self.now * 1_000_000)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["in memory", "with the people"])
def make(request: pytest.FixtureRequest, clock: Clock) -> Iterator[Make]:
    team = Team(None, clock=clock.micro)
    yield team.attempts if request.param == "with the people" else lambda _kind: Attempts(clock=clock.seconds)
    team.close()


def test_one_client_may_fail_a_few_times_a_minute(make: Make, clock: Clock) -> None:
    attempts = make("password")
    for _ in range(PER_CLIENT):
        assert attempts.wait("192.0.2.1") == 0
        attempts.begin("192.0.2.1")
        clock.now += 1
    assert attempts.wait("192.0.2.1") == WINDOW - PER_CLIENT
    with pytest.raises(TooManyAttempts, match=r"^Too many attempts\. Try again in 55 seconds\.$") as refused:
        attempts.begin("192.0.2.1")
    assert refused.value.wait == WINDOW - PER_CLIENT
    assert attempts.wait("192.0.2.2") == 0
    clock.now += WINDOW - PER_CLIENT
    assert attempts.wait("192.0.2.1") == 0, "the one that was refused was not counted"


def test_an_attempt_that_succeeds_does_not_count(make: Make) -> None:
    attempts = make("password")
    for _ in range(100):
        attempts.begin("192.0.2.1")()


def test_many_clients_that_fail_wait_and_one_that_has_not_failed_may_try_once(make: Make) -> None:
    attempts = make("password")
    for number in range(IN_ALL):
        attempts.count(f"192.0.2.{number}")
    assert attempts.wait("192.0.2.7") == WINDOW
    attempts.begin("198.51.100.1")
    assert attempts.wait("198.51.100.1") == WINDOW


def test_the_addresses_of_one_ipv6_network_are_one_client(make: Make) -> None:
    attempts = make("password")
    for number in range(PER_CLIENT):
        attempts.begin(f"2001:db8::{number}")
    assert attempts.wait("2001:db8::ffff") > 0 and attempts.wait("2001:db8:0:1::1") == 0


def test_each_kind_is_counted_for_itself(make: Make) -> None:
    changes = make("password change")
    for _ in range(PER_CLIENT):
        changes.begin("192.0.2.1")
    with pytest.raises(TooManyAttempts):
        changes.require("192.0.2.1")
    make("password").begin("192.0.2.1")


def test_what_is_older_than_a_minute_is_not_kept(clock: Clock) -> None:
    team = Team(None, clock=clock.micro)
    team.attempts("password").begin("192.0.2.1")
    clock.now += WINDOW
    team.attempts("password change").begin("192.0.2.2")
    assert [row["client"] for row in team.database.rows("SELECT client FROM attempts")] == ["192.0.2.2"]
    team.close()
