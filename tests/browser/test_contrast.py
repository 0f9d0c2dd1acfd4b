"""Small print and buttons can be read in both themes: 4.5:1 at least, as WCAG AA asks.

test_axe.py looks at every page and asks this of it too, so that each is opened once for both.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import expect

pytestmark = [pytest.mark.browser, pytest.mark.long]
READ = '[data-testid="stCaptionContainer"] p, button:enabled p, button:enabled kbd, [data-tag] span'
LOWEST = """
(elements) => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
  const light = (color) => {
    const [r, g, b] = color.map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (element) => {
    const grounds = [];
    let opacity = 1;
    for (let one = element; one; one = one.parentElement) {
      opacity *= Number(getComputedStyle(one).opacity);
      grounds.unshift(rgba(getComputedStyle(one).backgroundColor));
    }
    const ground = grounds.reduce((below, top) => over(top, below), [255, 255, 255]);
    const ink = rgba(getComputedStyle(element).color);
    ink[3] *= opacity;
    const [a, b] = [light(over(ink, ground)), light(ground)];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  const seen = elements.filter((one) => one.checkVisibility({ visibilityProperty: true }) && one.innerText.trim());
  return seen.map((one) => [contrast(one), one.innerText]).filter(([ratio]) => ratio < 4.5);
}
"""


def small_print_is_readable(page: Any) -> None:
    expect(page.locator(READ).first).to_be_visible()
    page.wait_for_function(f"() => ({LOWEST})([...document.querySelectorAll('{READ}')]).length === 0")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_button_can_be_read_while_what_it_opened_is_open(
    unchanged_app: str, watch: Any, scheme: str
) -> None:
    page = watch(scheme=scheme).open(unchanged_app)
    page.locator(".st-key-chat-models button").click()
    expect(page.get_by_text("For the next question only")).to_be_visible()
    opener = ".st-key-chat-models button[aria-expanded=true] p"
    expect(page.locator(opener)).to_be_visible()
    page.wait_for_function(f"() => ({LOWEST})([...document.querySelectorAll('{opener}')]).length === 0")
