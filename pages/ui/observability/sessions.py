"""What Streamlit knows of its sessions, for /metrics: how many there are, how many came and went, and for how long."""

from __future__ import annotations

from collections.abc import Iterator

from streamlit import runtime
from streamlit.runtime import stats

from forky_core.gateway.metrics import MetricSample

_FAMILIES = (stats.ACTIVE_SESSIONS_FAMILY, stats.SESSION_EVENTS_FAMILY, stats.SESSION_DURATION_FAMILY)
"""Streamlit's other families weigh every cached object, which takes seconds."""


def session_readings() -> Iterator[MetricSample]:
    if not runtime.exists():
        return
    found = runtime.get_instance().stats_mgr.get_stats(_FAMILIES)
    for one in (one for family in _FAMILIES for one in found.get(family, ())):
        value, labels = getattr(one, "value", None), getattr(one, "labels", None) or {}
        if value is None:
            continue
        if one.family_name == stats.ACTIVE_SESSIONS_FAMILY:
            yield MetricSample("sessions", "Browser tabs that are connected.", value)
        elif one.family_name == stats.SESSION_EVENTS_FAMILY:
            yield MetricSample("session_events", "Tabs that came and went.", value, "counter", labels)
        else:
            yield MetricSample(
                "session_seconds", "How long tabs that have gone were connected.", value, "counter"
            )
