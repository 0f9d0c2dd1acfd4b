"""Reads Streamlit's counts of sessions for /metrics.

Streamlit serves its own metrics only all together, and some of them measure every cached object, which takes seconds.
So the three that matter are read directly from its statistics.
"""

from __future__ import annotations

from collections.abc import Iterator

from forky_core.gateway.metrics import MetricSample
from pages.ui.streamlit_patches.patch import part
from pages.ui.streamlit_patches.patches import is_on


def session_readings() -> Iterator[MetricSample]:
    """Yield how many tabs are connected, how many connected and left, and for how long; nothing if no server runs."""
    if not is_on("session_counts") or not part("streamlit.runtime:exists")():
        return
    statistics = part("streamlit.runtime.stats:")
    active, came, lasted = families = (
        statistics.ACTIVE_SESSIONS_FAMILY,
        statistics.SESSION_EVENTS_FAMILY,
        statistics.SESSION_DURATION_FAMILY,
    )
    found = part("streamlit.runtime:get_instance")().stats_mgr.get_stats(families)
    for one in (one for family in families for one in found.get(family, ())):
        value, labels = getattr(one, "value", None), getattr(one, "labels", None) or {}
        if value is None:
            continue
        if one.family_name == active:
            yield MetricSample("sessions", "Browser tabs that are connected.", value)
        elif one.family_name == came:
            yield MetricSample("session_events", "Tabs that came and went.", value, "counter", labels)
        elif one.family_name == lasted:
            yield MetricSample(
                "session_seconds", "How long tabs that have gone were connected.", value, "counter"
            )
