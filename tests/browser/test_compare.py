"""Compare in a real browser: answers stream into their columns, and a phone shows everything without going sideways."""

from __future__ import annotations

from typing import Any

import pytest

QUESTION = "How do we keep the upload from breaking at 02:40?"


def ask(page: Any, text: str) -> None:
    box = page.locator(".st-key-compare-ask textarea")
    box.fill(text)
    box.press("Enter")


def columns_answered(page: Any, number: int) -> None:
    page.get_by_text("You asked all of them").wait_for(timeout=30_000)
    page.wait_for_function(
        "number => [...document.querySelectorAll('p')].filter(p => p.innerText.startsWith('Offline model'))"
        ".length >= number && !document.body.innerText.includes('is writing')",
        arg=number,
        timeout=30_000,
    )


def test_one_question_is_answered_in_every_column_and_taken_back_at_once(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/compare?with=main,compression,upload")
    page.get_by_text("4 messages in common").wait_for(timeout=30_000)
    ask(page, QUESTION)
    columns_answered(page, 3)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") > 0
    page.locator(".st-key-bar-undo button").first.click()
    page.get_by_text("You asked all of them").wait_for(state="detached", timeout=30_000)
    assert one.problems == []


def test_several_models_answer_side_by_side_and_the_link_brings_them_back(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/compare")
    page.get_by_text("Several models", exact=True).click()
    page.get_by_text("Models to ask").wait_for(timeout=30_000)
    ask(page, "Which compression level did we choose?")
    page.wait_for_url("**with=quote**", timeout=30_000)
    page.get_by_text("Offline model, digest.").wait_for(timeout=30_000)
    other = watch()
    again = other.open(page.url)
    again.get_by_text("Offline model, digest.").wait_for(timeout=30_000)
    assert again.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == 0
    assert one.problems == other.problems == []


@pytest.mark.parametrize("path", ["compare?with=main,compression,upload", "merge?source=upload"])
def test_a_phone_shows_it_without_going_sideways(app: str, watch: Any, path: str) -> None:
    page = watch(width=390, height=844, scheme="dark").open(f"{app}/{path}")
    page.get_by_text("Why is the nightly backup slow?").first.wait_for(timeout=30_000)
    page.wait_for_timeout(1500)
    wide = "document.querySelector('[data-testid=stMain]')"
    assert page.evaluate(f"{wide}.scrollWidth <= {wide}.clientWidth")


def test_the_difference_is_marked_where_words_changed(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/compare?with=main,upload")
    page.get_by_text("4 messages in common").wait_for(timeout=30_000)
    ask(page, QUESTION)
    columns_answered(page, 2)
    page.get_by_role("button", name="Show the difference").last.click()
    page.locator(".fk-diff").wait_for(timeout=30_000)
    page.get_by_text("Inline", exact=True).click()
    page.locator(".fk-diff:not(.fk-beside)").wait_for(timeout=30_000)
    assert page.locator(".fk-diff ins").count() > 0
    assert one.problems == []
