"""What Streamlit counts of its sessions is handed to /metrics.

Streamlit serves its own metrics only as a whole, and some of them weigh every cached object, which takes seconds. So
the three that matter are read from its statistics in the process.
"""

from __future__ import annotations

from collections.abc import Iterator

from forky_core.gateway.metrics import MetricSample
from pages.ui.streamlit_patches.patch import part
from pages.ui.streamlit_patches.patches import is_on


def session_readings() -> Iterator[MetricSample]:
    """How many sessions there are, how many came and went, and for how long; nothing where no server runs."""
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
