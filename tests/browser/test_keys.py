"""What Streamlit would do otherwise than a browser: Ctrl+Z in a field, Ctrl+click on a link, where the cursor goes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.browser.agraph import graph_frame
from tests.browser.conftest import CHECKOUT, expect, listed_under_you, menu, served, settled
from tests.browser.test_chat import DRAFT, ask, begin, holds, new, switch

pytestmark = pytest.mark.browser

_ENTER_AND_LEAVE = """(field) => {
  field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true, composed: true }));
  const links = [...document.querySelectorAll("[data-testid=stTopNavLink]")];
  setTimeout(() => links.find((link) => link.textContent.includes("Compare")).click());
}"""
"""In two turns of the browser, one right behind the other."""


def ask_anew(page: Any) -> Any:
    """The cells of a new conversation with a question and its answer; the field has the focus."""
    begin(page)
    new(page, "Keys")
    ask(page, "So what is it?")
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    cells = page.locator("[data-cell]")
    expect(cells).to_have_count(2)
    holds(page, "")
    return cells


def test_ctrl_z_takes_back_what_was_typed_and_else_what_was_done(app: str, watch: Any) -> None:
    page = watch().open(app)
    cells = ask_anew(page)
    page.locator(DRAFT).click()
    page.keyboard.type("abc")
    page.keyboard.press("Control+z")
    expect(page.locator(DRAFT)).not_to_have_value("abc")
    page.keyboard.press("Control+Shift+z")
    holds(page, "abc")
    expect(cells).to_have_count(2)
    page.locator(DRAFT).blur()
    page.keyboard.press("Control+z")
    expect(cells).to_have_count(0)
    page.keyboard.press("Control+Shift+z")
    expect(cells).to_have_count(2)


@pytest.mark.long
def test_the_field_that_was_just_sent_leaves_ctrl_z_to_the_page(app: str, watch: Any) -> None:
    page = watch().open(app)
    cells = ask_anew(page)
    page.locator(DRAFT).press("Control+z")
    expect(cells).to_have_count(0)


@pytest.mark.long
def test_a_link_opened_beside_leads_to_the_same_conversation(app: str, watch: Any) -> None:
    watched = watch()
    page = watched.open(app)
    begin(page)
    switch(page, "upload")
    with watched.context.expect_page() as opened:
        listed_under_you(page, "History").click(modifiers=["Control"])
    beside = settled(opened.value)
    expect(beside.get_by_role("heading", name="History of “Why is the nightly backup slow?”")).to_be_visible()
    assert beside.url.endswith("&b=upload") and "/history?c=" in beside.url
    page.get_by_role("link", name="Library").click()
    with watched.context.expect_page() as opened:
        page.get_by_role("link", name="Why is the nightly backup slow?").click(modifiers=["Control"])
    begin(opened.value)
    assert page.url.endswith("/library") and "/?c=" in opened.value.url


def ask_for_a_branch_and_a_page(page: Any, branches: Sequence[str]) -> None:
    """Each branch is shown by the page that is asked for right behind it."""
    begin(page)
    pages = page.get_by_test_id("stTopNav")
    for branch in branches:
        field = page.locator(".st-key-chat-branch input")
        field.click()
        page.keyboard.type(branch)
        field.evaluate(_ENTER_AND_LEAVE)
        page.wait_for_url(f"**/compare?*c=*&b={branch}*")
        settled(page)
        pages.get_by_role("link", name="Chat").click()
        page.wait_for_url(f"**/?c=*&b={branch}*")
        settled(page)


@pytest.mark.long
def test_a_page_that_is_asked_for_right_behind_a_branch_is_of_that_branch(app: str, watch: Any) -> None:
    ask_for_a_branch_and_a_page(watch().open(app), ("upload", "main", "upload", "main"))


@pytest.mark.long
def test_a_page_that_is_asked_for_before_the_branch_was_heard_of_is_of_that_branch(
    tmp_path: Path, watch: Any
) -> None:
    with served(CHECKOUT / "tests/browser/late_app.py", tmp_path) as app:
        ask_for_a_branch_and_a_page(watch().open(app), ("upload", "main"))


@pytest.mark.long
def test_a_page_that_is_reached_by_the_navigation_has_an_address_to_share(app: str, watch: Any) -> None:
    page = watch().open(app)
    begin(page)
    page.wait_for_url("**/?c=*&b=main")
    switch(page, "upload")
    page.get_by_test_id("stTopNav").get_by_role("link", name="Compare").click()
    page.wait_for_url("**/compare?*c=*&b=upload*")
    beside = watch().open(page.url)
    expect(beside.get_by_role("heading", name="Why is the nightly backup slow?").first).to_be_visible()
    settled(page)
    page.get_by_role("link", name="Library").click()
    page.wait_for_url("**/library")
    page.go_back()
    page.wait_for_url("**/compare?*c=*&b=upload*")
    page.go_back()
    page.wait_for_url("**/?c=*&b=upload")
    expect(page.locator(".st-key-chat-branch input")).to_have_attribute("placeholder", "upload")


@pytest.mark.long
def test_a_branch_is_started_by_what_is_asked_next_and_left_again(app: str, watch: Any) -> None:
    page = watch().open(app)
    begin(page)
    fork = page.locator('[data-act="fork"]').last
    fork.click()
    expect(page.locator(DRAFT)).to_be_focused()
    page.keyboard.type("By keys?")
    page.locator(".st-key-chat-to_newest button:visible").first.click()
    expect(page.locator(".st-key-line-forking")).to_have_count(0)
    expect(page.locator(DRAFT)).to_have_value("By keys?")
    settled(page).locator('[data-act="fork"]').last.click()
    expect(page.locator(".st-key-line-forking")).to_be_visible()
    expect(page.locator(DRAFT)).to_be_focused()
    expect(page.locator(DRAFT)).to_have_value("By keys?")
    page.keyboard.press("Enter")
    page.wait_for_url("**b=keys*")
    expect(page.locator(".st-key-notice")).to_contain_text("“keys”")
    expect(page.locator(DRAFT)).to_be_focused()


@pytest.mark.long
def test_the_shortcuts_are_heard_after_a_click_in_the_graph(app: str, watch: Any) -> None:
    page = watch().open(app)
    begin(page)
    graph_frame(page).locator("canvas").click(position={"x": 300, "y": 490})
    page.wait_for_function("() => document.activeElement.tagName !== 'IFRAME'")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Find a message, a chat or a verb")).to_be_focused()


@pytest.mark.long
def test_an_edit_opens_in_sight_with_one_tap_beside_a_draft_and_ctrl_enter_asks_it(
    app: str, watch: Any
) -> None:
    page = watch(height=600).open(app)
    begin(page)
    page.locator(DRAFT).fill("a draft that stays")
    page.locator('[data-act="edit"]').last.click()
    expect(page.locator(".st-key-chat-form_text textarea")).to_be_focused()
    expect(page.locator(".st-key-chat-form")).to_be_in_viewport(ratio=1)
    page.keyboard.type(" And tomorrow?")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**b=plan-for-tonight")
    expect(page.get_by_text("So what is the plan for tonight? And tomorrow?").first).to_be_visible()
    page.go_back()
    page.wait_for_url("**b=main")
    holds(page, "a draft that stays")


def test_a_quick_click_beside_a_draft_presses_its_button_and_the_draft_is_kept(app: str, watch: Any) -> None:
    page = watch().open(app)
    begin(page)
    page.locator(DRAFT).fill("a draft")
    menu(page, "Rename this chat")
    expect(page.locator(".st-key-rename-name input")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".st-key-rename-name input")).to_have_count(0)
    settled(page).locator(DRAFT).fill("a draft that stays")
    page.locator(".fk-chats-new").first.click()
    page.locator(".fk-first").wait_for()
    holds(page, "")
    page.go_back()
    holds(page, "a draft that stays")
    settled(page).locator(DRAFT).fill("and one that is left for another page")
    listed_under_you(page, "History").click()
    page.wait_for_url("**history**")
    page.go_back()
    holds(page, "and one that is left for another page")


_TWO_REQUESTS = """
() => {
  [...document.querySelectorAll("[data-act=sibling]")].at(-1).click();
  setTimeout(() => [...document.querySelectorAll(".st-key-chat-graph_as button")].at(1).click(), 15);
}
"""


@pytest.mark.long
def test_what_is_pressed_before_a_click_has_led_elsewhere_does_not_lead_back(app: str, watch: Any) -> None:
    page = watch().open(app)
    begin(page)
    last = settled(page).locator("[data-cell]").last
    here, begun = last.get_attribute("data-cell"), page.url
    page.locator("[data-act=sibling]").last.click()
    expect(last).not_to_have_attribute("data-cell", here)
    page.wait_for_url(lambda url: url != begun)  # What was sent ahead is there before the page has gone.
    beside = settled(page).locator("[data-cell]").last.get_attribute("data-cell")
    page.go_back()
    expect(last).to_have_attribute("data-cell", here)
    settled(page).evaluate(_TWO_REQUESTS)
    page.locator(".twin").wait_for()
    expect(last).to_have_attribute("data-cell", beside)
    page.wait_for_timeout(1000)
    expect(last).to_have_attribute("data-cell", beside)


_TWICE = """
(selector) => {
  const press = () => document.querySelector(selector)?.click();
  press();
  setTimeout(press, 15);
}
"""


def test_a_double_click_asks_again_once(app: str, watch: Any) -> None:
    page = watch().open(app)
    ask_anew(page)
    page.locator("[data-act=edit]").first.click()
    expect(page.locator(".st-key-chat-form_text textarea")).to_be_focused()
    page.locator(".st-key-chat-form_text textarea").fill("And what else?")
    page.locator(".st-key-chat-form_text textarea").blur()
    settled(page).evaluate(_TWICE, ".st-key-chat-form_go button")
    page.wait_for_url("**b=and-what-else*")
    expect(page.locator(".st-key-chat-form_go")).to_have_count(0)
    page.wait_for_timeout(1000)
    assert settled(page).url.endswith("b=and-what-else")


@pytest.mark.long
def test_a_double_click_stashes_once(app: str, watch: Any) -> None:
    page = watch().open(app)
    ask_anew(page)
    page.locator(DRAFT).fill("a draft")
    page.locator(DRAFT).blur()
    page.locator(".st-key-chat-more button").first.click()
    page.locator(".st-key-chat-stashes summary").click()
    page.locator("[class*=st-key-chat-stash_go] button").wait_for()
    settled(page).evaluate(_TWICE, "[class*=st-key-chat-stash_go] button")
    holds(page, "")
    page.wait_for_timeout(1000)
    expect(settled(page).locator(".st-key-chat-stashes summary")).to_contain_text("Put aside · 1")
