"""Experiments in a real browser: the table by mouse and keyboard, clicks while it runs, and the page that is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import expect, settled

pytestmark = pytest.mark.browser


def test_the_example_is_run_read_by_keyboard_and_sent(app: str, watch: Any, tmp_path: Path) -> None:
    one = watch()
    page = one.open(f"{app}/experiments?e=")
    page.get_by_role("button", name="Try the example").click()
    grid = page.locator(".grid")
    expect(grid.locator("tbody tr")).to_have_count(6)
    expect(grid.locator("td button.pass, td button.fail")).to_have_count(12)
    expect(page.get_by_text("cannot be told apart")).to_be_visible()
    settled(page)
    first = grid.locator("td button").first
    first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("How do I merge a branch?")).to_be_visible()
    expect(dialog.get_by_text("There is nothing to digest yet")).to_be_visible()
    dialog.get_by_role("button", name="Bad").click()
    expect(dialog.locator(".st-key-experiments-bad button[kind=primary]").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Send").click()
    with page.expect_download() as coming:
        page.get_by_role("dialog").get_by_role("link", name="Download").first.click()
    sent = tmp_path / "sent.html"
    coming.value.save_as(sent)
    other = watch(width=390, scheme="dark")
    read = other.page
    read.goto(sent.as_uri())
    expect(read.get_by_text("How do I merge a branch?").first).to_be_visible()
    assert one.problems == other.problems == []


@pytest.mark.long
def test_one_can_look_stop_and_resume_while_it_runs(slow: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{slow}/experiments?e=")
    page.get_by_label("Questions, one a line").fill("\n".join(f"Question {n}" for n in range(1, 13)))
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Create the grid").click()
    grid = page.locator(".grid")
    expect(grid.locator("tbody tr")).to_have_count(12)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(grid.locator("td button.plain").first).to_be_visible()
    grid.locator("td button").first.click()
    expect(page.get_by_role("dialog").get_by_text("Question 1", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    expect(grid.locator("td button.plain")).to_have_count(12)
    expect(page.get_by_text("Finished:")).to_be_visible()
    assert one.problems == []


@pytest.mark.long
def test_a_dialog_closes_where_what_it_shows_is_gone(app: str, watch: Any) -> None:
    one, two = watch(), watch()
    page = one.open(f"{app}/experiments?e=")
    page.get_by_role("button", name="Try the example").click()
    expect(page.locator(".grid td button.pass, .grid td button.fail")).to_have_count(12)
    settled(page)
    page.locator(".grid thead button").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Remove it").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator(".grid thead button")).to_have_count(1)
    page.locator(".grid tbody th button").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Remove this row").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator(".grid tbody tr")).to_have_count(5)
    other = two.open(settled(page).url)
    other.locator(".grid td button").first.click()
    expect(other.get_by_role("dialog").get_by_role("button", name="Bad")).to_be_visible()
    page.locator(".st-key-experiments-menu button").click()
    page.get_by_text("Delete this experiment").click()
    page.wait_for_url(lambda url: "e=example" not in url)
    other.get_by_role("dialog").get_by_role("button", name="Bad").click()
    expect(other.get_by_role("dialog")).to_have_count(0)
    settled(other)
    assert one.problems == two.problems == []


@pytest.mark.long
def test_heads_stay_and_a_phone_shows_it_without_going_sideways(app: str, watch: Any) -> None:
    one = watch(width=390, height=700, scheme="dark")
    page = one.open(f"{app}/experiments?e=")
    page.get_by_role("button", name="Try the example").click()
    grid = page.locator(".grid")
    expect(grid.locator("td button.pass, td button.fail")).to_have_count(12)
    frame = grid.locator(".frame")
    frame.evaluate("frame => { frame.scrollLeft = 150; frame.scrollTop = 100; }")
    inside = "(one) => { const f = one.closest('.frame').getBoundingClientRect(), o = one.getBoundingClientRect(); return [Math.round(o.left - f.left), Math.round(o.top - f.top)]; }"
    assert grid.locator("tbody th").nth(3).evaluate(inside)[0] <= 1
    assert grid.locator("thead th.column").first.evaluate(inside)[1] <= 1
    wide = "document.querySelector('[data-testid=stMain]')"
    assert page.evaluate(f"{wide}.scrollWidth <= {wide}.clientWidth")
    assert one.problems == []
