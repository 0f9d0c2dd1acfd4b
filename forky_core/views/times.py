"""Times for people: how long ago, by the clock and calendar of this machine."""

from __future__ import annotations

from datetime import UTC, datetime

_MINUTE = 60
_HOUR = 3600
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def ago(at: int, now: int) -> str:
    """Return `at` relative to `now`, both in microseconds since the epoch: "5 min ago", "yesterday", "3 Mar 2025"."""
    seconds = (now - at) / 1e6
    if seconds < _MINUTE:
        return "just now"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE:.0f} min ago"
    then, today = local(at), local(now)
    days = (today.date() - then.date()).days
    if days == 0 or seconds < 6 * _HOUR:
        return f"{seconds // _HOUR:.0f} h ago"
    if days == 1:
        return "yesterday"
    if days < 7:
        return f"{days} days ago"
    return _day(then, with_year=then.year != today.year)


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


def stamp(at: int) -> str:
    """Return the exact local minute: "2026-03-03 14:05"."""
    return local(at).strftime("%Y-%m-%d %H:%M")


def local(at: int) -> datetime:
    """Return microseconds since the epoch as local time; the epoch itself if they are out of range."""
    try:
        return datetime.fromtimestamp(at / 1e6, UTC).astimezone()
    except (OverflowError, ValueError, OSError):
        return datetime.fromtimestamp(0, UTC).astimezone()


def _day(then: datetime, *, with_year: bool) -> str:
    day = f"{then.day} {then:%b}"
    return f"{day} {then.year}" if with_year else day
