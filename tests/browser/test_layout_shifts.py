"""What is on screen while the first page comes stays where it is: the browser's own measure of layout shifts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import CHECKOUT, expect, served

pytestmark = pytest.mark.browser
_MOST = 0.1
"""The sum of all shifts that counts as good (web.dev/cls)."""
_WATCH = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) shifts.push([one.value, one.startTime, one.sources.map(({ node }) =>
    node?.parentElement ? `${node.parentElement.className} > ${node.className ?? node.nodeName}` : "gone")]);
}).observe({ type: "layout-shift", buffered: true });
"""


@pytest.mark.parametrize(
    ("width", "scheme"), [(1400, "light"), pytest.param(390, "dark", marks=pytest.mark.long)]
)
def test_nothing_moves_while_the_first_page_of_a_cold_server_comes(
    tmp_path: Path, watch: Any, width: int, scheme: str
) -> None:
    watched = watch(width=width, height=850, scheme=scheme)
    watched.page.add_init_script(_WATCH)
    with served(CHECKOUT / "app.py", tmp_path) as app:
        page = watched.open(app)
        expect(page.locator(".fk-opening")).to_have_count(0)
        expect(page.locator(".st-key-line-ready")).to_be_visible()
        page.wait_for_timeout(1000)  # What moves late would move by then.
        shifts = page.evaluate("shifts")
    assert sum(value for value, *_ in shifts) < _MOST, shifts
    assert watched.problems == []


@pytest.mark.long
def test_the_frame_reads_what_it_is_until_then(app: str, watch: Any) -> None:
    watched = watch()
    watched.page.route("**/static/js/**", lambda route: route.abort())
    watched.page.goto(app)
    frame = watched.page.locator(".fk-opening")
    expect(frame).to_contain_text("Opening your conversations")
    expect(watched.page).to_have_title("Forky")
