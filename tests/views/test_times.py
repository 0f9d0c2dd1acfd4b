from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, tzinfo
from zoneinfo import ZoneInfo

import pytest

from forky_core.views.times import ago, clock, local, midnight, read_in, since, stamp, stamp_utc
from pages.ui.components.reader_zone import zone_named


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).astimezone().timestamp() * 1_000_000)


@pytest.mark.parametrize(
    ("then", "said"),
    [
        ("2026-03-10T11:59:30", "just now"),
        ("2026-03-10T11:55:00", "5 min ago"),
        ("2026-03-10T09:00:00", "3 h ago"),
        ("2026-03-09T23:00:00", "yesterday"),
        ("2026-03-09T01:00:00", "yesterday"),
        ("2026-03-05T12:00:00", "5 days ago"),
        ("2026-01-02T12:00:00", "2 Jan"),
        ("2025-12-31T12:00:00", "31 Dec 2025"),
        ("2026-03-10T13:00:00", "just now"),
    ],
)
def test_a_moment_is_said_as_people_say_it(then: str, said: str) -> None:
    assert ago(at(then), at("2026-03-10T12:00:00")) == said


def test_minutes_before_midnight_are_not_yet_yesterday() -> None:
    assert ago(at("2026-03-09T23:50:00"), at("2026-03-10T00:10:00")) == "20 min ago"


@pytest.mark.parametrize("nonsense", [-(10**30), 10**30])
def test_a_moment_outside_the_calendar_is_shown_as_some_date(nonsense: int) -> None:
    assert stamp(nonsense) == stamp(0)
    assert local(nonsense).year in (1969, 1970)


@pytest.fixture
def reader() -> Iterator[list[tzinfo]]:
    """The zone of whoever reads, in a list of one: another may be put in its place."""
    zones: list[tzinfo] = [ZoneInfo("Asia/Tokyo")]
    read_in(lambda: zones[0])
    yield zones
    read_in(lambda: None)


def in_utc(text: str) -> int:
    return int(datetime.fromisoformat(f"{text}+00:00").timestamp() * 1_000_000)


def test_times_are_those_of_the_reader(reader: list[tzinfo]) -> None:
    then, now = in_utc("2026-03-09T22:50:00"), in_utc("2026-03-10T02:00:00")
    assert clock(then, now) == since(then, now) == "07:50"
    assert stamp(then) == "2026-03-10 07:50"
    assert ago(in_utc("2026-03-08T14:50:00"), now) == "2 days ago"
    reader[0] = ZoneInfo("America/New_York")
    assert stamp(then) == "2026-03-09 18:50"
    assert stamp_utc(then) == "2026-03-09 22:50 UTC"


def test_summer_time_is_that_of_the_day_which_is_named(reader: list[tzinfo]) -> None:
    reader[0] = ZoneInfo("Europe/Berlin")
    assert [stamp(in_utc(f"2026-{month}-10T12:00:00"))[-5:] for month in ("01", "07")] == ["13:00", "14:00"]
    assert midnight(date(2026, 3, 30)) - midnight(date(2026, 3, 29)) == 23 * 3_600_000_000


@pytest.mark.parametrize(
    ("then", "said"),
    [
        ("2026-03-10T00:05:00", "09:05"),
        ("2026-03-09T14:59:00", "9 Mar, 23:59"),
        ("2026-03-09T15:00:00", "00:00"),
        ("2025-12-31T16:00:00", "1 Jan, 01:00"),
        ("2024-11-02T08:37:00", "2 Nov 2024, 17:37"),
        ("2026-03-11T08:00:00", "11 Mar, 17:00"),
    ],
)
def test_a_time_of_another_day_has_its_day(then: str, said: str, reader: list[tzinfo]) -> None:
    assert clock(in_utc(then), in_utc("2026-03-10T08:00:00")) == said


@pytest.mark.parametrize("name", ["Nowhere/At", "../etc", "Asia", "x" * 5_000])
def test_a_zone_that_this_machine_does_not_know_is_as_far_from_utc_as_the_browser_says(name: str) -> None:
    zone = zone_named(name, -330)
    assert zone is not None and datetime(2026, 3, 10, tzinfo=zone).isoformat()[-6:] == "+05:30"
    assert zone_named(name, None) is None and zone_named("Asia/Kolkata", 0) == ZoneInfo("Asia/Kolkata")
