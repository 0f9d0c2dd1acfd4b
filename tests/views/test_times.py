from __future__ import annotations

from datetime import datetime

import pytest

from forky_core.views.times import ago, local, stamp


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
