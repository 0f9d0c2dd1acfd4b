"""What is on screen while the first page comes stays where it is: the browser's own measure of layout shifts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import CHECKOUT, expect, served, settled

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
_FRAMES = """
const from = performance.now();
window.frames = [];
const look = () => {
  const words = document.querySelector("[data-testid=stMain]")?.innerText.trim().length ?? 0;
  frames.push([performance.now() - from, words]);
  requestAnimationFrame(look);
};
document.addEventListener("click", () => requestAnimationFrame(look), { once: true, capture: true });
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


def test_the_page_that_one_leaves_stays_in_sight_until_the_next_is_drawn(app: str, watch: Any) -> None:
    watched = watch()
    page = settled(watched.open(app))
    for name in ("Library", "Chat"):
        page.evaluate(f"() => {{ {_FRAMES} }}")
        page.get_by_test_id("stTopNav").get_by_role("link", name=name).click()
        page.wait_for_url("**/library" if name == "Library" else "**/?c=*")
        settled(page)
        # A page that takes longer than this shows how far it is.
        assert [frame for frame in page.evaluate("window.frames") if frame[0] < 1_500 and not frame[1]] == []
    assert watched.problems == []
