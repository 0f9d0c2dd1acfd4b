"""The graph of the Chat page as a map: it zooms and moves, holds still, follows the notebook, and a row has a menu."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from bench.conversations import build
from forky_core.forky import Forky
from tests.browser.agraph import click_node, graph_frame, node_at
from tests.browser.conftest import CHECKOUT, expect, served, settled
from tests.browser.test_chat import DRAFT

pytestmark = pytest.mark.browser
_SCALE = "() => window.forkyNetwork.getScale()"
_CENTRE = "() => window.forkyNetwork.getViewPosition().y"
_ROWS = "() => window.forkyNetwork.body.data.nodes.getIds().filter((id) => id.startsWith('b2:'))"
_PLACES = """
() => {
  const at = window.forkyNetwork.getPositions();
  return Object.fromEntries(Object.keys(at).filter((id) => id.startsWith("b2:"))
    .map((id) => [id, window.forkyNetwork.canvasToDOM(at[id]).y]));
}
"""
_SEEN = """
() => {
  const at = window.forkyNetwork.getPositions(), tall = window.forkyNetwork.canvas.frame.canvas.clientHeight;
  return Object.keys(at).filter((id) => id.startsWith("b2:"))
    .every((id) => { const y = window.forkyNetwork.canvasToDOM(at[id]).y; return y > 0 && y < tall; });
}
"""
_INK = "(id) => window.forkyNetwork.body.data.nodes.get(id).color.border"


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app with a conversation of 1,000 messages and 100 forks, and its address."""
    folder = tmp_path_factory.mktemp("long")
    with Forky.open(folder / "forky.duckdb") as forky:
        id = build(forky, trunk=600).id
    with served(CHECKOUT / "app.py", folder) as address:
        yield f"{address}/?c={id}&b=main"


def cells(page: Any) -> list[str]:
    found: list[str] = page.locator("[data-cell]").evaluate_all("all => all.map((it) => it.dataset.cell)")
    return found


@pytest.mark.long
def test_the_wheel_zooms_around_the_pointer_and_shift_with_it_moves(long: str, watch: Any) -> None:
    page = watch().open(long)
    frame = graph_frame(page)
    box = page.locator(".fk-map iframe").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 300)
    assert frame.evaluate(_SCALE) == 1
    page.mouse.wheel(0, 120)
    frame.wait_for_function("() => window.forkyNetwork.getScale() < 1")
    page.mouse.wheel(0, -120)
    page.mouse.wheel(0, -120)
    frame.wait_for_function("() => window.forkyNetwork.getScale() > 1")
    before, scale = frame.evaluate(_CENTRE), frame.evaluate(_SCALE)
    page.keyboard.down("Shift")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Shift")
    frame.wait_for_function(f"() => window.forkyNetwork.getViewPosition().y < {before}")
    assert frame.evaluate(_SCALE) == scale


@pytest.mark.long
def test_dragging_moves_the_map_and_not_beyond_its_ends(long: str, watch: Any) -> None:
    page = watch().open(long)
    frame = graph_frame(page)
    before = frame.evaluate(_CENTRE)
    box = page.locator(".fk-map iframe").bounding_box()
    for down, holds in ((-400, f"=== {before}"), (300, f"< {before}")):
        page.mouse.move(box["x"] + 200, box["y"] + 420)
        page.mouse.down()
        page.mouse.move(box["x"] + 200, box["y"] + 420 + down, steps=4)
        page.mouse.up()
        frame.wait_for_function(f"() => window.forkyNetwork.getViewPosition().y {holds}")
    assert len(cells(page)) > 3  # A drag is no click.


_PICKED = """
(name) => {
  const box = document.querySelector(".st-key-chat-map .fk-map"), map = box.parentElement.map;
  const row = map.given.rows.findIndex((one) => one.branches.includes(name)), frame = map.frame.getBoundingClientRect();
  map.show(false, row);
  const at = map.network.canvasToDOM({ x: map.label(row) - 13, y: (row + 0.5) * 29 });
  return { x: frame.left + at.x, y: frame.top + at.y };
}
"""
"""Where the end of a branch is in the window, once its row is in sight."""


def test_the_whole_map_has_a_row_for_every_branch_and_a_drag_brings_one_back(app: str, watch: Any) -> None:
    watched = watch()
    page = watched.open(app)
    page.get_by_role("button", name="Whole map").click()
    frame = graph_frame(page)
    expect(page).to_have_url(re.compile("map=1"))
    options = page.get_by_role("listbox").get_by_role("option")
    names = options.evaluate_all("all => all.map((it) => it.textContent.split(', ')[0])")
    assert {"main", "compression", "upload"} <= set(names)
    expect(options.filter(has_text="upload")).to_contain_text(re.compile("open|brought back"))
    frame.wait_for_function(_SEEN)
    start, end = (page.evaluate(_PICKED, name) for name in ("upload", "main"))
    page.mouse.move(start["x"], start["y"])
    page.mouse.down()
    page.mouse.move(end["x"], end["y"], steps=4)
    page.mouse.up()
    expect(page).to_have_url(re.compile("/merge.*b=main&source=upload"))
    page.go_back()
    graph_frame(page)
    page.get_by_role("listbox").focus()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    expect(page.locator("[data-cell]").first).to_be_visible()
    assert "map=1" not in page.url
    assert watched.problems == []


def test_a_click_moves_no_row_and_the_same_spot_is_the_same_message(long: str, watch: Any) -> None:
    page = watch().open(long)
    frame = graph_frame(page)
    first, second = frame.evaluate(_ROWS)[-9], frame.evaluate(_ROWS)[-22]
    page.locator(f'[data-cell="{cells(page)[-1]}"]').wait_for()
    for id in (first, second, first):
        node_at(page, id)
        box, before = page.locator(".fk-map").bounding_box(), frame.evaluate(_PLACES)
        click_node(page, id)
        page.wait_for_function(
            "(id) => [...document.querySelectorAll('[data-cell]')].at(-1)?.dataset.cell === id", arg=id
        )
        frame.wait_for_function(
            "(id) => window.forkyNetwork.body.data.nodes.get(id)?.borderWidth === 3", arg=id
        )
        settled(page)
        after = frame.evaluate(_PLACES)
        assert after[id] == before[id]
        assert {one: after[one] for one in before.keys() & after.keys()} == {
            one: before[one] for one in before.keys() & after.keys()
        }
        assert page.locator(".fk-map").bounding_box()["y"] == box["y"]


@pytest.mark.long
def test_the_whole_row_is_one_target_also_between_its_dot_and_its_words(
    unchanged_app: str, watch: Any
) -> None:
    page = watch().open(unchanged_app)
    first, second = cells(page)[-3], cells(page)[-2]
    for id, aside in ((first, 32), (second, 300)):
        click_node(page, id, aside=aside)
        expect(page.locator("[data-cell]").last).to_have_attribute("data-cell", id)


@pytest.mark.long
def test_the_map_marks_where_one_reads_and_follows(long: str, watch: Any) -> None:
    page = watch().open(long)
    frame = graph_frame(page)
    current = cells(page)[-1]
    expect(page.locator(".fk-map")).to_have_attribute("data-reading", current)
    page.locator('[data-testid="stMain"]').evaluate("it => { it.scrollTop = 0; }")
    page.wait_for_function(
        "(id) => ![id, ''].includes(document.querySelector('.fk-map').dataset.reading)", arg=current
    )
    reading = page.locator(".fk-map").get_attribute("data-reading")
    assert reading in frame.evaluate(_ROWS)


@pytest.mark.long
def test_pointing_at_a_row_shows_how_its_message_begins_as_text(unchanged_app: str, watch: Any) -> None:
    page = watch().open(unchanged_app)
    id = cells(page)[-1]
    x, y = node_at(page, id)
    box = page.locator(".fk-map iframe").bounding_box()
    page.mouse.move(box["x"] + x + 100, box["y"] + y)
    expect(page.get_by_role("tooltip")).to_contain_text("The dump (38 min) is now the slowest stage")
    page.mouse.move(20, 400)
    expect(page.get_by_role("tooltip")).to_have_count(0)


@pytest.mark.long
def test_the_list_shows_the_same_preview_to_whoever_moves_in_it_by_keys(
    unchanged_app: str, watch: Any
) -> None:
    page = watch().open(unchanged_app)
    page.get_by_role("radio", name="List").click()
    page.get_by_role("listbox").focus()
    page.keyboard.press("End")
    expect(page.get_by_role("tooltip")).to_contain_text("upload")
    page.keyboard.press("Shift+F10")
    expect(page.get_by_role("menu")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_be_focused()


@pytest.mark.long
def test_a_right_click_on_a_row_opens_the_menu_of_its_message(unchanged_app: str, watch: Any) -> None:
    page = watch().open(unchanged_app)
    id = cells(page)[1]
    click_node(page, id, aside=200, button="right")
    menu = page.get_by_role("menu")
    for entry in (
        "Start a branch here",
        "Bring its branch back",
        "Present from here",
        "Compare",
        "Take away",
    ):
        expect(menu).to_contain_text(entry)
    link = menu.get_by_role("menuitem", name="Present from here")
    assert link.get_attribute("href").endswith(f"?m={id.removeprefix('b2:')}")
    with page.context.expect_page() as opened:
        link.click()
    expect(opened.value.get_by_role("region").first).to_be_visible()
    click_node(page, id, aside=200, button="right")
    menu.get_by_role("menuitem", name="Compare").click()
    menu.get_by_role("menuitem", name="Compare with where you are").click()
    expect(page).to_have_url(re.compile(f"/compare.*with=main&with=(%40|@){id.removeprefix('b2:')[:12]}"))


@pytest.mark.long
def test_a_branch_has_one_colour_in_the_graph_and_the_notebook(unchanged_app: str, watch: Any) -> None:
    page = watch().open(f"{unchanged_app}/?b=upload")
    id = cells(page)[-1]
    ink = graph_frame(page).evaluate(_INK, cells(page)[-2]).removeprefix("#")
    rgb = f"rgb({int(ink[:2], 16)}, {int(ink[2:4], 16)}, {int(ink[4:], 16)})"
    dot = "it => getComputedStyle(it, '::before').borderTopColor"
    assert page.locator(f'[data-cell="{id}"]').evaluate(dot) == rgb
    assert page.locator(f'[data-cell="{cells(page)[0]}"]').evaluate(dot) != rgb
    chip = page.locator(f'[data-cell="{id}"] .fk-chip', has_text="upload")
    assert chip.evaluate("it => getComputedStyle(it).getPropertyValue('--fk-branch')").strip() == f"#{ink}"


@pytest.mark.long
def test_a_filter_moves_nothing_and_marks_what_it_finds(long: str, watch: Any) -> None:
    page = watch().open(long)
    frame = graph_frame(page)
    before = {id: frame.evaluate(_INK, id) for id in frame.evaluate(_ROWS)}
    places = frame.evaluate("() => window.forkyNetwork.getPositions()")
    page.get_by_role("button", name="Filter").click()
    page.get_by_placeholder("Words", exact=True).fill("nobody lock")
    page.get_by_placeholder("Words", exact=True).press("Enter")
    expect(page.get_by_text("messages found")).to_be_visible()
    frame = graph_frame(page)
    frame.wait_for_function(
        "(was) => window.forkyNetwork.body.data.nodes.getIds().some((id) => was[id] && was[id] !== window.forkyNetwork.body.data.nodes.get(id).color.border)",
        arg=before,
    )
    assert frame.evaluate("() => window.forkyNetwork.getPositions()") == places
    now = cells(page)[-1]
    page.get_by_role("button", name="Next", exact=True).click()
    page.wait_for_function(
        "(id) => [...document.querySelectorAll('[data-cell]')].at(-1).dataset.cell !== id", arg=now
    )


@pytest.mark.long
def test_the_rows_fill_the_map_from_its_top_while_a_side_branch_grows(app: str, watch: Any) -> None:
    page = watch().open(app)
    frame = graph_frame(page)
    page.wait_for_function("() => document.querySelectorAll('[data-cell]').length > 3")
    click_node(page, cells(page)[-3])
    page.get_by_role("button", name="Send on a new branch").wait_for()
    for number in range(5):
        shown = set(frame.evaluate(_ROWS))
        page.locator(DRAFT).fill(f"Question {number}")
        page.keyboard.press("Enter")
        frame.wait_for_function(
            f"(before) => ({_ROWS})().filter((id) => !before.includes(id)).length > 1", arg=list(shown)
        )
        page.get_by_text("writing …").wait_for(state="detached")
        settled(page)
        places = frame.evaluate(_PLACES)
        top, bottom = min(places.values()), max(places.values())
        tall = page.locator(".fk-map").bounding_box()["height"]
        assert top < 29 and bottom < tall
