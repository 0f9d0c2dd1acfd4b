"""The time zone of whoever reads the page that is being drawn, as their browser told Streamlit."""

from __future__ import annotations

from datetime import timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import streamlit as st


def reader_zone() -> tzinfo | None:
    """The reader's zone; None where no page is being drawn, or the browser did not tell."""
    name, minutes = st.context.timezone, st.context.timezone_offset
    try:
        return ZoneInfo(name) if name else None
    except (OSError, ValueError):  # No such zone here, or a name that is none: as far from UTC as today.
        return timezone(timedelta(minutes=-minutes)) if minutes is not None and abs(minutes) < 1440 else None
