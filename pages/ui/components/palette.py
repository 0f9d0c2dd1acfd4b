"""Forky's colours in both themes, for what Streamlit's theme does not reach: the graph and its lanes.

The base colours repeat .streamlit/config.toml (a test compares them). The colours of branches are those that exported
pages have, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from forky_core.views.layout.inks import INKS


@dataclass(frozen=True, slots=True)
class Palette:
    """One theme, as `#rrggbb`."""

    dark: bool
    accent: str
    on_accent: str
    """Text on it."""
    background: str
    surface: str
    text: str
    quiet: str
    """Text that steps back."""
    border: str
    selected: str
    """Behind the row one is at."""
    lanes: tuple[str, ...]
    """By the number of a branch's colour (forky_core/views/layout/colors.py)."""

    def lane(self, number: int) -> str:
        return self.lanes[number]


_INKS = {
    "accent": ("#1f6f63", "#3f9f8e"),
    "on_accent": ("#ffffff", "#0c1513"),
    "background": ("#fcfbf9", "#15181a"),
    "surface": ("#f3f1ec", "#1e2326"),
    "text": ("#23272a", "#dfe3e1"),
    "quiet": ("#6f7472", "#8d9694"),
    "border": ("#e2dfd8", "#2e3538"),
    "selected": ("#e3eeeb", "#1d3431"),
}
"""Each colour on the light and on the dark page."""
LIGHT, DARK = (
    Palette(
        dark=dark,
        lanes=tuple(inks[dark] for inks in INKS),
        **{name: inks[dark] for name, inks in _INKS.items()},
    )
    for dark in (False, True)
)


def palette() -> Palette:
    """The one this tab shows."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def blend(color: str, towards: str, share: float) -> str:
    """`color` with this share of `towards` mixed in; 0 is `color` itself."""

    def channels(value: str) -> tuple[int, ...]:
        return tuple(int(value[i : i + 2], 16) for i in (1, 3, 5))

    mixed = (
        round(one + (two - one) * share) for one, two in zip(channels(color), channels(towards), strict=True)
    )
    return "#" + "".join(f"{channel:02x}" for channel in mixed)
