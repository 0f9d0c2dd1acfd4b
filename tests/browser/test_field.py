"""The field as only a browser shows it: its row, what “/” offers, pasted pictures, and several models side by side."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import expect, settled

pytestmark = pytest.mark.browser
DRAFT = ".st-key-chat-draft textarea"
OFFERS = ".st-key-chat-composer .offers [role=option]"
_PASTE = """
(dot) => {
  const held = new DataTransfer();
  held.items.add(new File([Uint8Array.from(atob(dot), (one) => one.charCodeAt(0))], "dot.png", { type: "image/png" }));
  const said = { bubbles: true, cancelable: true };
  document.body.dispatchEvent(new ClipboardEvent("paste", { ...said, clipboardData: held }));
}
"""
_DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def test_from_a_fresh_page_two_models_answer_side_by_side_after_three_presses(app: str, watch: Any) -> None:
    page = watch().open(app)
    presses = [
        page.locator("[class*=st-key-chat-model_add] input"),
        page.get_by_role("option", name="Offline: digest"),
        page.locator("[class*=st-key-chat-send-] button"),
    ]
    page.locator(DRAFT).fill("How do I import a file?")
    for press in presses:
        press.first.click()
        if press is presses[1]:
            expect(page.locator("[class*=st-key-chat-model_drop]")).to_have_count(1)
            expect(page.locator(DRAFT)).to_be_focused()  # What is typed next is text, and no shortcut.
        settled(page)
    answers = page.locator(".st-key-chat-together [data-cell]")
    expect(answers).to_have_count(2)
    expect(page.get_by_role("button", name="Prefer this answer")).to_have_count(1)
    left, right = (answers.nth(at).bounding_box() for at in (0, 1))
    assert left["y"] == right["y"] and left["x"] + left["width"] <= right["x"]
    page.get_by_role("link", name="Open in Compare").click()
    expect(page.get_by_placeholder("Ask main, Offline: digest")).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize("width", [1400, 390])
def test_at_rest_the_text_has_a_line_of_its_own_and_all_else_one_below(
    unchanged_app: str, watch: Any, width: int
) -> None:
    page = watch(width=width, height=844).open(unchanged_app)
    box = page.locator(".st-key-chat-composer").bounding_box()
    assert box["height"] <= 110
    field = page.locator(DRAFT).bounding_box()
    assert field["width"] > 0.9 * box["width"]
    row = [
        page.locator(f".st-key-{key} button").first for key in ("chat-more", "chat-models", "chat-sending")
    ]
    tops = [one.bounding_box()["y"] for one in row]
    assert max(tops) - min(tops) < 8 and min(tops) >= field["y"] + field["height"]


@pytest.mark.long
def test_a_slash_offers_what_was_put_aside_and_where_to_go(app: str, watch: Any) -> None:
    page = watch().open(app)
    field = page.locator(DRAFT)
    field.fill("Explain it to a child.")
    page.locator(".st-key-chat-more button").first.click()
    page.locator(".st-key-chat-stashes summary").click()
    page.locator("[class*=st-key-chat-stash_go] button").click()
    expect(field).to_have_value("")
    settled(page)
    page.keyboard.press("Escape")
    field.click()
    field.press_sequentially("/")
    expect(page.locator(OFFERS)).to_have_count(5)
    field.press("Escape")
    expect(page.locator(OFFERS)).to_have_count(0)
    field.press_sequentially("exp")
    expect(page.locator(OFFERS)).to_have_count(1)
    field.press("Enter")
    expect(field).to_have_value("Explain it to a child.")
    field.fill("/")
    for key in ("ArrowDown", "ArrowUp", "ArrowUp", "Enter"):
        field.press(key)
    expect(field).to_have_value("")
    expect(page.get_by_text("Nothing has been said here yet.")).to_be_visible()


@pytest.mark.long
def test_a_picture_that_is_pasted_anywhere_is_attached_and_shown(app: str, watch: Any) -> None:
    page = watch().open(app)
    page.evaluate(_PASTE, _DOT)
    expect(page.locator(".st-key-line-files img")).to_be_visible()
    page.get_by_role("button", name="dot.png").click()
    expect(page.locator(".st-key-line-files")).to_have_count(0)
