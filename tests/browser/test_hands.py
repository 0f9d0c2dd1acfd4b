"""Controls can be hit by a thumb and are called by what they do, never by the picture on them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import expect
from tests.browser.test_chat import begin

pytestmark = pytest.mark.browser
LEAST = 32
"""Pixels of a button's sides on a phone."""
SMALL = """
(least) => [...document.querySelectorAll("[data-act]")].filter((one) => one.checkVisibility())
  .map((one) => [one.dataset.act, one.getBoundingClientRect()])
  .filter(([, box]) => box.height < least || box.width < least).map(([name]) => name)
"""


def test_the_small_buttons_of_a_cell_are_large_enough_for_a_thumb(unchanged_app: str, watch: Any) -> None:
    page = watch(width=390).open(unchanged_app)
    begin(page)
    expect(page.locator("[data-act]").filter(visible=True).first).to_be_visible()
    page.wait_for_function(f"() => ({SMALL})({LEAST}).length === 0")


@pytest.mark.long
@pytest.mark.parametrize("width", [1400, 390])
def test_icon_buttons_are_called_by_what_they_do(unchanged_app: str, watch: Any, width: int) -> None:
    page = watch(width=width).open(unchanged_app)
    begin(page)
    for name in ("Search", "Menu"):
        expect(page.get_by_role("button", name=name).first).to_be_visible()
    if width > 390:
        expect(page.get_by_role("region", name="Graph of the conversation")).to_be_visible()
    page.goto(f"{unchanged_app}/library")
    for name in ("Rename", "Export or share", "Move to the trash"):
        expect(page.get_by_role("button", name=name).first).to_be_visible()
    page.goto(f"{unchanged_app}/merge?source=upload")
    expect(page.get_by_role("button", name="Swap the two")).to_be_visible()
