"""Compare in a real browser: answers stream into their columns, and a phone shows everything without going sideways."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.conftest import expect, settled

pytestmark = pytest.mark.browser
QUESTION = "How do we keep the upload from breaking at 02:40?"
SCROLLED = "document.querySelector('[data-testid=stMain]').scrollTop"


def ask(page: Any, text: str) -> None:
    box = page.locator(".st-key-compare-ask textarea")
    box.fill(text)
    box.press("Enter")


def columns_answered(page: Any, number: int) -> None:
    expect(page.get_by_text("You asked all of them")).to_be_visible()
    expect(page.locator("p").filter(has_text=re.compile("^Offline model"))).to_have_count(number)
    expect(page.get_by_text("is writing")).to_have_count(0)


def test_one_question_is_answered_in_every_column_and_taken_back_at_once(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/compare?with=main,compression,upload")
    expect(page.get_by_text("4 messages in common")).to_be_visible()
    ask(page, QUESTION)
    columns_answered(page, 3)
    page.wait_for_function(f"{SCROLLED} > 0")
    page.locator(".st-key-bar-undo button").first.click()
    expect(page.get_by_text("You asked all of them")).to_have_count(0)
    assert one.problems == []


def test_several_models_answer_side_by_side_and_the_link_brings_them_back(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/compare")
    page.get_by_text("Several models", exact=True).click()
    expect(page.get_by_text("Models to ask")).to_be_visible()
    ask(page, "Which compression level did we choose?")
    page.wait_for_url("**with=quote**")
    expect(page.get_by_text("Offline model, digest.")).to_be_visible()
    other = watch()
    again = other.open(page.url)
    expect(again.get_by_text("Offline model, digest.")).to_be_visible()
    assert again.evaluate(SCROLLED) == 0
    assert one.problems == other.problems == []


@pytest.mark.parametrize("path", ["compare?with=main,compression,upload", "merge?source=upload"])
def test_a_phone_shows_it_without_going_sideways(app: str, watch: Any, path: str) -> None:
    page = watch(width=390, height=844, scheme="dark").open(f"{app}/{path}")
    expect(page.get_by_text("Why is the nightly backup slow?").first).to_be_visible()
    wide = "document.querySelector('[data-testid=stMain]')"
    assert settled(page).evaluate(f"{wide}.scrollWidth <= {wide}.clientWidth")


def test_the_difference_is_marked_where_words_changed(app: str, watch: Any) -> None:
    one = watch()
    page = one.open(f"{app}/compare?with=main,upload")
    expect(page.get_by_text("4 messages in common")).to_be_visible()
    ask(page, QUESTION)
    columns_answered(page, 2)
    page.get_by_role("button", name="Show the difference").last.click()
    expect(page.locator(".fk-diff")).to_be_visible()
    page.get_by_text("Inline", exact=True).click()
    expect(page.locator(".fk-diff:not(.fk-beside)")).to_be_visible()
    expect(page.locator(".fk-diff ins").first).to_be_visible()
    assert one.problems == []
