"""Times for people: how long ago, by the clock and calendar of whoever reads them.

Whoever uses the command line sits at this machine. Whoever reads a page may be anywhere: the app names a function that
finds the zone of the reader for whom a page is being drawn (`read_in`). A text that goes to others, such as a file or a
shared page, has no such reader and names its zone (`stamp_utc`).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, tzinfo

_MINUTE = 60
_HOUR = 3600
_A_SITTING = 6 * _HOUR
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _of_this_machine() -> tzinfo | None:
    return None


_zone: Callable[[], tzinfo | None] = _of_this_machine


def read_in(zone: Callable[[], tzinfo | None]) -> None:
    """Write all times by the clock that `zone` returns whenever one is written; None is this machine's clock."""
    global _zone  # noqa: PLW0603 - one app in a process has readers
    _zone = zone


def ago(at: int, now: int) -> str:
    """Return `at` relative to `now`, both in microseconds since the epoch: "5 min ago", "yesterday", "3 Mar 2025"."""
    seconds = (now - at) / 1e6
    if seconds < _MINUTE:
        return "just now"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE:.0f} min ago"
    then, today = local(at), local(now)
    days = (today.date() - then.date()).days
    if is_today(at, now):
        return f"{seconds // _HOUR:.0f} h ago"
    if days == 1:
        return "yesterday"
    if days < 7:
        return f"{days} days ago"
    return _day(then, with_year=then.year != today.year)


def is_today(at: int, now: int) -> bool:
    """Whether it is the same day, or so short a time ago that midnight between the two makes no other day of it."""
    return local(at).date() == local(now).date() or 0 <= now - at < _A_SITTING * 1_000_000


def since(at: int, now: int) -> str:
    """Return `at` as what follows “since”: "14:05", "yesterday", "Tuesday", "3 Mar", "3 Mar 2025"."""
    then, today = local(at), local(now)
    days = (today.date() - then.date()).days
    if days <= 0:
        return f"{then:%H:%M}"
    if days == 1:
        return "yesterday"
    if days < 7:
        return _WEEKDAYS[then.weekday()]
    return _day(then, with_year=then.year != today.year)


def clock(at: int, now: int) -> str:
    """Return the minute, with the day where it is not today: "14:05", "3 Mar, 14:05", "3 Mar 2025, 14:05"."""
    then, today = local(at), local(now)
    if is_today(at, now):
        return f"{then:%H:%M}"
    return f"{_day(then, with_year=then.year != today.year)}, {then:%H:%M}"


def stamp(at: int) -> str:
    """Return the exact minute: "2026-03-03 14:05"."""
    return f"{local(at):%Y-%m-%d %H:%M}"


def stamp_utc(at: int) -> str:
    """Return the exact minute for readers anywhere: "2026-03-03 14:05 UTC"."""
    return f"{_in_zone(at, UTC):%Y-%m-%d %H:%M} UTC"


def local(at: int) -> datetime:
    """Return microseconds since the epoch as the reader's time; the epoch itself if they are out of range."""
    return _in_zone(at, _zone())


def midnight(day: date) -> int:
    """Return when a day begins for the reader, in microseconds since the epoch."""
    begin = datetime.combine(day, time(), _zone())
    return int((begin if begin.tzinfo is not None else begin.astimezone()).timestamp() * 1_000_000)


def _in_zone(at: int, zone: tzinfo | None) -> datetime:
    try:
        return datetime.fromtimestamp(at / 1e6, UTC).astimezone(zone)
    except (OverflowError, ValueError, OSError):
        return datetime.fromtimestamp(0, UTC).astimezone(zone)


def _day(then: datetime, *, with_year: bool) -> str:
    day = f"{then.day} {then:%b}"
    return f"{day} {then.year}" if with_year else day
