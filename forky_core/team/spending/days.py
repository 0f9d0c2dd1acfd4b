"""The days by which spending and uploads are limited: those of UTC, on every server."""

from __future__ import annotations

from datetime import UTC, datetime

_DAY = 86_400
_MICRO = 1_000_000


def day_of(moment: int) -> str:
    """The day of a time in microseconds since the epoch, as "2026-11-26"."""
    return datetime.fromtimestamp(moment / _MICRO, UTC).date().isoformat()


def seconds_left(moment: int) -> float:
    """The seconds from a time in microseconds since the epoch to the next midnight."""
    return float(_DAY - moment / _MICRO % _DAY)


def hours_left(moment: int) -> str:
    """How long it is to the next midnight, as people say it: "5 hours"."""
    seconds = seconds_left(moment)
    if seconds >= 5_400:
        return f"{seconds / 3_600:.0f} hours"
    minutes = max(1, round(seconds / 60))
    return "1 minute" if minutes == 1 else f"{minutes} minutes"
