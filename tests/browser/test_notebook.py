"""Cells of the notebook, and what is pressed in them."""

from __future__ import annotations

from typing import Any

import pytest

from forky_core.forky import Forky
from tests.browser.conftest import expect, rarely, settled
from tests.browser.test_chat import DRAFT
from tests.builders import talk

pytestmark = pytest.mark.browser
_HOLD = """
() => {
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) { window.held ? window.held.push(() => send.call(this, data)) : send.call(this, data); };
  window.release = () => { const waiting = window.held; window.held = null; waiting.forEach((one) => one()); };
}
"""
"""What a page sends waits where `window.held` is a list, until `release()`."""


def versions(forky: Forky) -> str:
    """A conversation whose answer has two versions, each with more below it."""
    code = "```python\nx = 1\n```\n\n> so"
    chat = talk(forky.create("Versions"), "Which?", "The first.", "And then?", code)
    talk(chat.fork("other", at=chat.path()[0].id), "The second.", "And now?", "It ends here.")
    return chat.id


@pytest.fixture
def forked(begun: Any) -> str:
    """The address at which the first of them is looked at."""
    return f"{begun(versions)}/?b=main"


def held(watched: Any, address: str) -> Any:
    """The page, from which nothing is sent until `release()`."""
    watched.page.add_init_script(f"({_HOLD})()")
    page = watched.open(address)
    page.wait_for_function("() => window.__forkyAhead?.size")
    page.evaluate("() => { window.held = []; }")
    return page


def test_the_version_beside_is_there_before_the_server_has_heard_of_the_press(
    forked: str, watch: Any
) -> None:
    watched = watch()
    page = held(watched, forked)
    cell = page.locator('[class*="st-key-cell-"]', has_text="The first.")
    cell.locator("[data-act=sibling]").last.click()
    expect(page.locator("[data-cell]")).to_have_count(4)
    expect(page.get_by_text("It ends here.", exact=True)).to_be_in_viewport()
    assert page.evaluate("window.held.length") > 0 and "b=main" in page.url
    last = page.locator("[data-cell]").last.element_handle()
    page.evaluate("release()")
    page.wait_for_url("**b=other*")
    settled(page)
    assert last.evaluate("(one) => one.isConnected"), "what was shown is what the page says"
    assert watched.problems == []


@pytest.mark.long
def test_a_press_that_led_nowhere_shows_the_path_again(forked: str, watch: Any) -> None:
    page = held(watch(), forked)
    page.locator("[data-act=sibling]").last.click()
    expect(page.get_by_text("It ends here.", exact=True)).to_be_visible()
    expect(page.get_by_text("The first.", exact=True)).to_be_visible()
    expect(page.get_by_text("It ends here.", exact=True)).to_have_count(0)


@pytest.mark.long
def test_what_changes_in_a_cell_leaves_the_rest_of_it_as_it_is(forked: str, watch: Any) -> None:
    page = watch().open(forked)
    cell = page.locator('[class*="st-key-cell-"]', has_text="The first.")
    words = cell.get_by_text("The first.", exact=True).element_handle()
    more = cell.locator("[data-act=more]")
    rarely(cell, "pick")
    expect(cell.locator("[data-act=pick]")).to_have_attribute("aria-pressed", "true")
    settled(page)
    expect(more).to_be_focused()
    assert words.evaluate("(one) => one.isConnected")
    expect(page.locator("[data-cell]")).to_have_count(4)


@pytest.mark.long
def test_code_is_coloured_and_copied(forked: str, watch: Any) -> None:
    watched = watch()
    watched.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = watched.open(forked)
    code = page.locator(".fk-code")
    expect(code.locator(".token.number")).to_have_text("1")
    code.hover()
    copy = code.get_by_role("button", name="Copy to clipboard")
    copy.click()
    expect(copy).to_have_attribute("data-done", "")
    assert page.evaluate("navigator.clipboard.readText()") == "x = 1"
    code.get_by_role("button", name="Wrap the lines").click()
    expect(code.locator("code")).to_have_css("white-space", "pre-wrap")


@pytest.mark.long
def test_a_form_opens_below_its_cell_takes_the_cursor_and_gives_it_back(forked: str, watch: Any) -> None:
    page = watch().open(forked)
    cell = page.locator('[class*="st-key-cell-"]', has_text="The first.")
    rarely(cell, "tag")
    form = page.locator(".st-key-chat-form")
    expect(form.get_by_role("textbox").first).to_be_focused()
    expect(page.locator("[data-cell]")).to_have_count(4)
    above, below = (
        page.get_by_text(words, exact=True).bounding_box() for words in ("The first.", "And then?")
    )
    box = form.bounding_box()
    assert above["y"] < box["y"] < below["y"]
    page.keyboard.press("Escape")
    expect(form).to_have_count(0)
    expect(page.locator(DRAFT)).to_be_focused()
