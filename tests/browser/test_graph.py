from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.agraph import click_node, graph_frame
from tests.browser.conftest import CHECKOUT, served

pytestmark = pytest.mark.browser
_FITS = """
() => {
  const frame = document.querySelector('iframe[title*="agraph"]'), map = frame?.closest(".fk-map");
  const canvas = frame?.contentDocument.querySelector("canvas");
  return canvas && canvas.clientWidth === map.clientWidth && canvas.clientHeight === map.clientHeight
    && [...frame.contentDocument.fonts].some((font) => font.family.includes("Source Sans") && font.status === "loaded");
}
"""
_ATTACK = """
() => new Promise((resolve) => {
  const script = document.createElement('script'); script.textContent = 'window.ran = true';
  document.body.append(script);
  const image = document.createElement('img'); image.src = 'http://leak.invalid/x.png';
  document.body.append(image);
  document.addEventListener('error', (event) => event.target.id === 'bait' && setTimeout(resolve), true);
  document.body.insertAdjacentHTML('beforeend', '<img id=bait src=data:, onerror="window.ran = true">');
})
"""
"""Ends when the last of the three had its chance."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(CHECKOUT / "tests/browser/demo_app.py", tmp_path_factory.mktemp("demo")) as address:
        yield address


def test_a_click_on_a_node_goes_there_each_time_and_breaks_no_policy(demo: str, watch: Any) -> None:
    watched = watch()
    page = watched.open(demo)
    for id in ("d7", "m3", "d7"):
        click_node(page, id)
        page.get_by_text(f"at {id} a None").wait_for()
    assert watched.problems == []


@pytest.mark.long
@pytest.mark.parametrize("width", [1400, 1024])
def test_the_picture_is_as_wide_as_its_panel_and_set_in_the_font_of_the_page(
    demo: str, watch: Any, width: int
) -> None:
    page = watch(width=width).open(f"{demo}?only=graph")
    graph_frame(page)
    page.wait_for_function(_FITS)
    page.set_viewport_size({"width": width - 200, "height": 700})
    page.wait_for_function(_FITS)


@pytest.mark.long
def test_a_click_on_a_fold_opens_it_and_another_closes_it(demo: str, watch: Any) -> None:
    page = watch().open(demo)
    page.locator(".twin .row.fold").wait_for()
    click_node(page, "fold:d1")
    page.locator('.twin [data-row="d3"]').wait_for()
    click_node(page, "fold:d1")
    page.locator('.twin [data-row="d3"]').wait_for(state="detached")


def test_the_twin_works_by_keyboard_alone(demo: str, watch: Any) -> None:
    watched = watch(width=390)
    page = watched.open(demo)
    page.get_by_role("listbox").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_text("at m1 a None").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("a")
    page.get_by_text("at m1 a m2 b None").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("b")
    page.get_by_text("a m2 b r0").wait_for()
    assert watched.problems == []


def test_the_policy_stops_foreign_images_and_scripts(demo: str, watch: Any) -> None:
    watched = watch()
    page = watched.open(demo)
    with page.expect_console_message(lambda message: "leak.invalid" in message.text):
        page.evaluate(_ATTACK)
    assert page.evaluate("window.ran") is None


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_the_page_never_scrolls_sideways(demo: str, watch: Any, scheme: str, width: int) -> None:
    watched = watch(scheme=scheme, width=width)
    page = watched.open(demo)
    page.locator(".twin .row").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.long
def test_the_app_itself_loads_nothing_from_elsewhere_and_breaks_no_policy(app: str, watch: Any) -> None:
    watched = watch()
    asked: list[str] = []
    watched.page.on("request", lambda request: asked.append(request.url))
    page = watched.open(f"{app}/library")
    page.wait_for_load_state("networkidle")
    assert [url for url in asked if not url.startswith((app, "data:", "blob:"))] == []
    assert watched.problems == []
