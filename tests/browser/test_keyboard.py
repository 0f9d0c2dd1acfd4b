"""The keys of the table, the palette, and what they leave alone."""

from __future__ import annotations

from typing import Any

import pytest

from pages.ui.keyboard.verbs import COMPOSER, VERBS
from tests.browser.conftest import expect, settled
from tests.browser.test_chat import DRAFT, begin

pytestmark = pytest.mark.browser
PALETTE = "Find a message, a chat or a verb"


def palette(page: Any) -> Any:
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name=PALETTE)
    expect(field).to_be_focused()
    expect(page.get_by_role("option", name="upload branch")).to_be_visible()
    return field


def ready(page: Any) -> Any:
    """The Chat page with its messages marked and nothing in the focus."""
    begin(page)
    expect(page.get_by_role("article").last).to_be_visible()
    return settled(page)


def test_the_keys_of_messages_walk_step_among_versions_and_fork(unchanged_app: str, watch: Any) -> None:
    page = ready(watch().open(unchanged_app))
    articles = page.get_by_role("log", name="Messages").get_by_role("article")
    page.keyboard.press("k")
    expect(articles.last).to_be_focused()
    page.keyboard.press("k")
    expect(articles.nth(-2)).to_be_focused()
    page.keyboard.press("j")
    expect(articles.last).to_be_focused()
    expect(articles.last.get_by_role("heading", name="Assistant")).to_be_visible()
    page.keyboard.press("[")
    page.wait_for_url("**b=parallel-dump*")
    page.keyboard.press("]")
    page.wait_for_url("**b=main*")
    expect(articles.get_by_text("Pipe the stages into each other").first).to_be_visible()
    settled(page).keyboard.press("f")
    expect(page.locator(".st-key-line-forking")).to_be_visible()
    expect(page.locator(COMPOSER)).to_be_focused()
    page.keyboard.type("fm?")
    expect(page.locator(COMPOSER)).to_have_value("fm?")


@pytest.mark.long
def test_the_keys_of_places_lead_there_and_back_to_the_composer(unchanged_app: str, watch: Any) -> None:
    page = ready(watch().open(unchanged_app))
    page.keyboard.press("g")
    expect(page.get_by_role("listbox", name="Messages of the conversation")).to_be_focused()
    page.keyboard.press("m")
    page.wait_for_url("**/merge?**")
    settled(page).keyboard.press("c")
    page.wait_for_url("**/compare?**")
    settled(page).keyboard.press("/")
    expect(page.locator(COMPOSER)).to_be_focused()
    page.keyboard.type("/jkm")
    expect(page.locator(DRAFT)).to_have_value("/jkm")


@pytest.mark.long
def test_the_dialog_lists_every_key_and_switches_the_single_ones_off(unchanged_app: str, watch: Any) -> None:
    page = ready(watch().open(unchanged_app))
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    for verb in VERBS:
        if verb.key:
            expect(dialog.get_by_text(verb.name, exact=True)).to_be_visible()
    page.keyboard.press("m")
    dialog.get_by_role("switch").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    page.keyboard.press("?")
    expect(dialog).to_have_count(0)
    page.reload()
    ready(page).keyboard.press("?")
    assert "/merge" not in page.url
    palette(page).press_sequentially("all keys")
    page.keyboard.press("Enter")
    dialog.get_by_role("switch").check()
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    page.wait_for_url("**/merge?**")


def test_the_palette_presses_what_the_page_shows(unchanged_app: str, watch: Any) -> None:
    page = ready(watch().open(unchanged_app))
    palette(page)
    names = [row.split("\n")[0] for row in page.get_by_role("option").all_inner_texts()]
    assert {
        "Start a branch at this message",
        "Tag …",
        "Delete this branch",
        "Send",
        "Library",
        "replica-idea",
    } <= {*names}
    assert "Redo" not in names, "There is nothing to redo."
    page.keyboard.press("Escape")
    expect(page.get_by_role("combobox", name=PALETTE)).to_have_count(0)
    palette(page).press_sequentially("rename this br")
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-rename-name input")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".st-key-rename-name input")).to_have_count(0)
    palette(page).press_sequentially("upl")
    page.keyboard.press("Enter")
    page.wait_for_url("**b=upload*")
    settled(page)
    page.locator(".fk-chats-find").click()
    page.keyboard.type("compression plan")
    page.get_by_role("option", name="Search all conversations for “compression plan”").click()
    page.wait_for_url("**/library?q=compression*")


def test_a_page_begins_with_a_link_to_the_composer_and_boxes_that_scroll_take_the_focus(
    unchanged_app: str, watch: Any
) -> None:
    page = ready(watch(width=390).open(unchanged_app))
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="To the composer")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(COMPOSER)).to_be_focused()
    wide = page.locator("pre[data-scrolls]").last
    expect(wide).to_have_attribute("tabindex", "0")
    wide.focus()
    expect(wide).to_be_focused()


@pytest.mark.long
def test_a_word_of_ours_says_what_it_means_on_focus(unchanged_app: str, watch: Any) -> None:
    page = ready(watch().open(unchanged_app))
    page.keyboard.press("k")
    page.locator('[data-act="more"]').last.press("Enter")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    item = page.get_by_role("menuitem", name="Clear away from here …")
    item.focus()
    tip = page.get_by_role("tooltip")
    expect(tip).to_contain_text("what no branch needs")
    expect(item).to_have_attribute("aria-describedby", "word-line")
