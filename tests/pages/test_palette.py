"""Every ink that words are written in reads on its background: 4.5:1, as WCAG 2.2 asks (1.4.3)."""

from __future__ import annotations

import pytest

from pages.ui.components.palette import DARK, LIGHT, Palette


def luminance(color: str) -> float:
    """Relative luminance of `#rrggbb`, by WCAG."""
    channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_every_lane_reads_on_the_page_and_on_the_row_one_is_at(theme: Palette) -> None:
    for ink in (*theme.lanes, theme.text):
        assert contrast(ink, theme.background) >= 4.5, ink
        assert contrast(ink, theme.selected) >= 4.5, ink
    assert contrast(theme.quiet, theme.background) >= 4.5
    assert contrast(theme.on_accent, theme.accent) >= 4.5
