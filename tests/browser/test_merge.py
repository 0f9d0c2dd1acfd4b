"""Merge in a real browser: from the ready conversation to a landed merge and back, in a handful of clicks."""

from __future__ import annotations

from typing import Any


def test_the_first_minute_compare_merge_undo(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/compare")
    page.get_by_text("Merge into main").first.click()
    page.wait_for_url("**/merge?**source=upload**", timeout=30_000)
    page.get_by_text("What the model will read, word for word").wait_for(timeout=30_000)
    assert "[Merged branch" in page.locator(".stCode code").first.inner_text()
    page.get_by_role("button", name="Land in").click()
    page.get_by_text("Merged “upload” into “main” (squash)").wait_for(timeout=30_000)
    page.locator(".st-key-merge-undo button").click()
    page.get_by_role("button", name="Land in").wait_for(timeout=30_000)
    assert one.problems == []


def test_a_landed_merge_leads_back_to_the_chat(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/merge?source=upload")
    page.get_by_role("button", name="Land in").click(timeout=30_000)
    page.get_by_text("Go on in main").click(timeout=30_000)
    page.wait_for_url(f"{app}/?c=**b=main**", timeout=30_000)
    page.get_by_text("Merge", exact=True).last.wait_for(timeout=30_000)
    assert one.problems == []


def test_a_whole_card_chooses_its_strategy_and_the_link_says_so(app: str, watch: Any) -> None:
    page = watch().open(f"{app}/merge")
    page.get_by_text("every message of the branch, as it was said").click(timeout=30_000, force=True)
    page.wait_for_url("**strategy=full**", timeout=30_000)
    page.get_by_text("344 tokens").wait_for(timeout=30_000)


def test_an_edit_is_counted_as_soon_as_it_is_taken(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/merge?source=upload")
    page.locator(".st-key-merge-edit label").click(timeout=30_000)
    text = page.locator(".st-key-merge-text textarea")
    text.fill("Use --partial.")
    text.press("Control+Enter")
    page.get_by_text("4 tokens").wait_for(timeout=30_000)
    page.get_by_role("button", name="Land in").click()
    page.get_by_text("Merged “upload” into “main”").wait_for(timeout=30_000)
    assert page.locator(".stCode code").first.inner_text().strip() == "Use --partial."
    assert one.problems == []


def test_messages_are_ticked_by_keyboard(app: str, watch: Any) -> None:
    page = watch().open(f"{app}/merge?source=upload&strategy=cherry-pick")
    box = page.locator(".st-key-merge-picks input[type=checkbox]").first
    box.focus(timeout=30_000)
    page.keyboard.press("Space")
    page.get_by_text("1 of 4 messages ticked").wait_for(timeout=30_000)
    page.get_by_role("button", name="All", exact=True).click()
    page.get_by_text("4 of 4 messages ticked").wait_for(timeout=30_000)
    page.wait_for_url("**picks=**", timeout=30_000)
