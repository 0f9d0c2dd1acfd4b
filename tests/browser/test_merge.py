"""Merge in a real browser: from the ready conversation to a landed merge and back, in a handful of clicks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.agraph import click_node
from tests.browser.conftest import expect, settled

pytestmark = pytest.mark.browser


def test_the_first_minute_compare_merge_undo(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/compare")
    page.get_by_role("button", name="More about upload").click()
    page.get_by_role("menuitem", name="Bring back into main").click()
    page.wait_for_url("**/merge?**source=upload**")
    expect(lines(page).first).to_be_visible()
    page.get_by_role("button", name="Bring it in").click()
    expect(page.get_by_text("Brought back from “upload”")).to_be_visible()
    page.locator(".st-key-merge-undo button").click()
    page.wait_for_url("**/?**b=main**")
    expect(page.get_by_text("Undone: ")).to_be_visible()
    assert one.problems == []


def lines(page: Any) -> Any:
    return page.locator(".block .line")


def test_lines_come_in_and_go_out_by_clicks_and_none_is_lost(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/merge?source=upload")
    expect(lines(page).first).to_be_visible()
    unticked = page.locator(".piece[aria-checked=false]")
    many = unticked.count()
    assert many > 3
    # Faster than the page answers.
    unticked.evaluate_all("pieces => pieces.forEach((piece) => piece.click())")
    expect(unticked).to_have_count(0)
    settled(page)
    expect(unticked).to_have_count(0)
    page.get_by_text("Take the edit back").click()
    expect(unticked).to_have_count(many)
    assert one.problems == []


@pytest.mark.long
def test_a_line_shows_where_it_is_from_and_why_it_is_there(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/merge?source=upload")
    line = lines(page).filter(has_text="Decision:").first
    line.hover()
    expect(page.locator(".piece.lit").filter(has_text="Decision:")).to_be_visible()
    line.click()
    expect(line.locator(".why")).to_contain_text("It decides something. From the last answer.")
    page.get_by_text("Why?", exact=True).hover()
    expect(page.locator(".piece.lit")).to_have_count(0)
    assert one.problems == []


def test_a_block_is_edited_by_keyboard_alone(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/merge?source=upload")
    expect(lines(page).first).to_be_visible()
    lines(page).first.focus()
    before = lines(page).count()
    page.keyboard.press("Delete")
    expect(lines(page)).to_have_count(before - 1)
    settled(page)
    expect(lines(page)).to_have_count(before - 1)
    expect(lines(page).first).to_be_focused()
    page.locator('.piece[tabindex="0"]').focus()
    page.keyboard.press("End")
    last = page.locator(".piece").last
    expect(last).to_be_focused()
    was = last.get_attribute("aria-checked")
    page.keyboard.press("Space")
    expect(last).to_have_attribute("aria-checked", "false" if was == "true" else "true")
    settled(page)
    expect(last).to_be_focused()
    assert one.problems == []


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (390, 844)])
def test_the_note_and_what_brings_it_in_are_on_the_first_screen(
    app: str, watch: Any, width: int, height: int
) -> None:
    page = watch(width=width, height=height).open(f"{app}/merge?source=upload")
    expect(lines(page).nth(2)).to_be_in_viewport()
    expect(page.get_by_role("button", name="Bring it in")).to_be_in_viewport()
    if width > 640:
        expect(page.locator(".piece").first).to_be_in_viewport()


def test_two_keys_from_the_start_lead_to_what_brings_it_in_and_one_gesture_does(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/merge?source=upload")
    expect(lines(page).first).to_be_visible()
    page.get_by_text("To “Bring it in”").wait_for(state="attached")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Bring it in")).to_be_focused()
    page.get_by_role("button", name="Details").click()
    page.locator(".st-key-merge-edit label").click()
    page.keyboard.press("Escape")
    text = page.locator(".st-key-merge-text textarea")
    text.fill("Use --partial.")
    text.press("Control+Enter")
    expect(page.get_by_role("button", name="How: a short note")).to_be_visible()
    expect(page.get_by_text("% of the length of what was said")).to_be_visible()
    page.get_by_role("button", name="How: ").focus()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".fk-note")).to_have_text("Use --partial.")
    page.locator(".st-key-merge-undo button").click()
    page.wait_for_url("**/?**b=main**")
    expect(page.get_by_text("Undone: ")).to_be_visible()
    assert one.problems == []


@pytest.mark.long
def test_on_a_phone_the_block_stands_above_the_branch(app: str, watch: Any) -> None:
    page = watch(width=390, height=844).open(f"{app}/merge?source=upload")
    expect(lines(page).first).to_be_visible()
    block, source = (page.locator(f".pane.{name}").bounding_box() for name in ("block", "source"))
    assert block["y"] + block["height"] <= source["y"] and source["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.long
def test_a_menu_and_a_card_lead_here_with_the_message_ticked(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/compare")
    page.goto(f"{app}/?b=upload")
    settled(page)
    id = page.locator("[data-cell]").nth(-3).get_attribute("data-cell")
    page.locator("[data-act=more]").last.click()
    page.get_by_role("menuitem", name="Bring its branch back").click()
    page.wait_for_url("**/merge?**source=upload**picks=**")
    page.goto(f"{app}/?b=main")
    settled(page)
    click_node(page, id)
    card = page.locator(".fk-card")
    card.get_by_role("button", name="More").click()
    expect(page.get_by_role("menuitem", name="Start a branch here")).to_be_visible()
    page.keyboard.press("Escape")
    card.get_by_role("button", name="Bring “upload” back").click()
    page.wait_for_url("**/merge?**source=upload**")
    assert one.problems == []


@pytest.mark.long
def test_the_menu_of_a_message_of_main_leads_here_to_choose_the_branch(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/?b=main")
    settled(page)
    page.locator("[data-act=more]").last.click()
    page.get_by_role("menuitem", name="Bring its branch back").click()
    page.wait_for_url("**/merge?**b=main**")
    expect(lines(page).first).to_be_visible()
    assert one.problems == []


@pytest.mark.long
def test_markdown_is_drawn_in_both_panes_and_each_line_keeps_its_number(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/merge?source=upload&budget=320")
    expect(lines(page).first).to_be_visible()
    expect(page.locator(".block .line code").first).to_be_visible()
    expect(page.locator(".desk")).not_to_contain_text("`")
    expect(page.locator(".block .line .who").first).to_have_text("You")
    assert lines(page).count() == page.locator(".block .line:has(.cite)").count()
    assert one.problems == []


@pytest.mark.long
def test_on_a_phone_the_menu_of_a_message_stays_in_the_window(app: str, watch: Any) -> None:
    page = watch(width=390, height=844).open(f"{app}/?b=upload")
    page.locator("[data-act=more]").last.click()
    entry = page.get_by_role("menuitem", name="Take away")
    expect(entry).to_be_visible()
    box = page.locator(".fk-menu").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    assert entry.bounding_box()["height"] < 44, "an entry is one line"
