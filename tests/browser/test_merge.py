"""Merge in a real browser: from the ready conversation to a landed merge and back, in a handful of clicks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import expect

pytestmark = pytest.mark.browser
PAYLOAD = ".fk-payload"


def test_the_first_minute_compare_merge_undo(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/compare")
    page.get_by_text("Merge into main").first.click()
    page.wait_for_url("**/merge?**source=upload**")
    expect(page.get_by_text("What the model will read, word for word")).to_be_visible()
    expect(page.locator(PAYLOAD).first).to_contain_text("[Merged ")
    page.get_by_role("button", name="Land in").click()
    expect(page.get_by_text("Merged “upload” into “main” (squash)")).to_be_visible()
    page.locator(".st-key-merge-undo button").click()
    expect(page.get_by_role("button", name="Land in")).to_be_visible()
    assert one.problems == []


def test_a_landed_merge_leads_back_to_the_chat(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/merge?source=upload")
    page.get_by_role("button", name="Land in").click()
    page.get_by_text("Go on in main").click()
    page.wait_for_url(f"{app}/?c=**b=main**")
    expect(page.get_by_text("Merge", exact=True).last).to_be_visible()
    assert one.problems == []


def test_a_whole_card_chooses_its_strategy_and_the_link_says_so(app: str, watch: Any) -> None:
    page = watch().open(f"{app}/merge")
    page.get_by_text("every message of the branch, as it was said").click(force=True)
    page.wait_for_url("**strategy=full**")
    expect(page.get_by_text("344 tokens")).to_be_visible()


def test_an_edit_is_counted_as_soon_as_it_is_taken(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/merge?source=upload")
    page.locator(".st-key-merge-edit label").click()
    text = page.locator(".st-key-merge-text textarea")
    text.fill("Use --partial.")
    text.press("Control+Enter")
    expect(page.get_by_text("4 tokens")).to_be_visible()
    page.get_by_role("button", name="Land in").click()
    expect(page.get_by_text("Merged “upload” into “main”")).to_be_visible()
    expect(page.locator(PAYLOAD).first).to_have_text("Use --partial.")
    assert one.problems == []


def test_messages_are_ticked_by_keyboard(app: str, watch: Any) -> None:
    page = watch().open(f"{app}/merge?source=upload&strategy=cherry-pick")
    page.locator(".st-key-merge-picks input[type=checkbox]").first.focus()
    page.keyboard.press("Space")
    expect(page.get_by_text("1 of 4 messages ticked")).to_be_visible()
    page.get_by_role("button", name="All", exact=True).click()
    expect(page.get_by_text("4 of 4 messages ticked")).to_be_visible()
    page.wait_for_url("**picks=**")
