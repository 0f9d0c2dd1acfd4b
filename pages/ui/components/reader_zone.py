"""The time zone of whoever reads the page that is being drawn, as their browser told Streamlit."""

from __future__ import annotations

from datetime import timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import streamlit as st


def reader_zone() -> tzinfo | None:
    """The reader's zone; None where no page is being drawn, or the browser did not tell."""
    return zone_named(st.context.timezone, st.context.timezone_offset)


def zone_named(name: str | None, minutes: int | None) -> tzinfo | None:
    """Return a zone by its name, or one as far from UTC as `minutes` says where this machine does not know it."""
    try:
        return ZoneInfo(name) if name else None
    except (KeyError, OSError, ValueError):
        return timezone(timedelta(minutes=-minutes)) if minutes is not None and abs(minutes) < 1440 else None
