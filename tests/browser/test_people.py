"""Two people at once: what one says appears before the other, who loses neither draft nor place."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import expect, settled
from tests.browser.test_chat import DRAFT, ask, begin

pytestmark = pytest.mark.browser


def introduce(page: Any, name: str) -> None:
    """Say who one is, through the menu of the branch."""
    page.get_by_role("button", name="Rename or delete this branch").click()
    page.get_by_text("Who takes part …").click()
    page.get_by_role("textbox", name="You are").fill(name)
    page.get_by_role("dialog").get_by_role("button", name="Save").first.click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.locator(".st-key-chat-people")).to_contain_text(name)


def test_a_name_survives_a_reload_and_is_known_in_a_new_tab(app: str, watch: Any) -> None:
    page = watch().open(app)
    begin(page)
    introduce(page, "Ana Ü")
    settled(page)
    page.wait_for_function("document.cookie.includes('forky_person=Ana%20%C3%9C')")
    page.reload()
    expect(page.locator(".st-key-chat-people")).to_contain_text("Ana Ü")
    settled(page)
    page.get_by_role("link", name="Settings").first.click()
    expect(page.get_by_role("textbox", name="You are")).to_have_value("Ana Ü")


def test_what_one_says_appears_in_the_others_tab_and_their_draft_stays(app: str, watch: Any) -> None:
    ana = watch().open(app)
    begin(ana)
    introduce(ana, "Ana")
    settled(ana)
    other = watch()
    ben = other.open(ana.url)
    introduce(ben, "Ben")
    settled(ben)
    ben.locator(DRAFT).fill("I was about to say")
    ask(ana, "The train leaves at noon.")
    expect(ben.get_by_text("The train leaves at noon.").first).to_be_visible()
    expect(ben.locator(".fk-who", has_text="Ana").first).to_be_visible()
    expect(ben.locator(DRAFT)).to_have_value("I was about to say")
    assert other.problems == []
