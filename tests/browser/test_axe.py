"""No page has a fault of accessibility that axe-core knows, in both themes and on a phone."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest

from tests.browser.conftest import PAGES, expect
from tests.browser.test_contrast import small_print_is_readable

pytestmark = pytest.mark.browser
AXE = (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
RUN = """
async () => (await axe.run({ resultTypes: ["violations"] })).violations.flatMap(({ id, nodes }) =>
  nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")} ${failureSummary}`))
"""
MARKED = "() => document.querySelector('.fk-jump[href]') && !document.querySelector('[data-cell]:not([role=article] *)')"


def faults(page: Any) -> list[str]:
    """What axe finds, once the page stays as it is."""
    page.wait_for_function(MARKED)
    page.wait_for_timeout(700)  # What was drawn last is marked, and fades in no longer.
    page.evaluate(AXE)
    found: list[str] = page.evaluate(RUN)
    return found


@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        ("light", 1400),
        *(
            pytest.param(*look, marks=pytest.mark.long)
            for look in (("light", 390), ("dark", 1400), ("dark", 390))
        ),
    ],
)
def test_axe_finds_nothing_on_any_page_and_small_print_can_be_read(
    unchanged_app: str, watch: Any, scheme: str, width: int
) -> None:
    watched = watch(scheme=scheme, width=width)
    for place in (*PAGES, "merge?source=upload"):
        page = watched.open(f"{unchanged_app}/{place}")
        expect(page.locator("h1:not(.fk-text h1)")).to_have_count(1)
        if width == 1400:
            small_print_is_readable(page)
        assert (place, faults(page)) == (place, [])


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_palette_and_the_dialog_of_keys(
    unchanged_app: str, watch: Any, scheme: str
) -> None:
    page = watch(scheme=scheme).open(unchanged_app)
    page.keyboard.press("Control+k")
    expect(page.get_by_role("option", name="upload branch")).to_be_visible()
    assert faults(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    assert faults(page) == []
