"""The tour in a browser: by mouse, by its own button, by keyboard, on a phone, through a reload, and left."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import expect, settled
from tests.browser.test_axe import faults
from tests.browser.test_chat import DRAFT, begin

pytestmark = pytest.mark.browser

CARD = ".fk-tour"
STEPS = ("Branch", "Bring back", "Undo", "Look at an experiment")


def at(page: Any, step: str) -> Any:
    """The card, once it is at this step and its control is pointed at."""
    card = page.locator(CARD)
    expect(card.locator(".name")).to_have_text(step)
    return card


def begin_tour(page: Any) -> Any:
    begin(page)
    page.locator(".st-key-ready-tour button:visible").click()
    return at(page, "Branch")


def aimed(page: Any) -> Any:
    expect(page.locator("[data-tour]")).to_have_count(1)
    return page.locator("[data-tour]")


@pytest.mark.parametrize(
    ("width", "scheme"), [(1400, "light"), pytest.param(390, "dark", marks=pytest.mark.long)]
)
def test_everything_can_be_done_for_the_person(app: str, watch: Any, width: int, scheme: str) -> None:
    watched = watch(width=width, height=850, scheme=scheme)
    page = watched.open(app)
    card = begin_tour(page)
    assert faults(page) == []
    mine = card.get_by_role("button", name="Do it for me")
    mine.click()
    at(page, STEPS[1])
    mine.click()
    expect(card.locator(".what")).to_contain_text("Read it, then bring it in.")
    for then in STEPS[2:]:
        mine.click()
        at(page, then)
    mine.click()
    at(page, "That was it")
    assert "/experiments" in page.url
    card.get_by_role("button", name="Compare three answers").click()
    expect(page.locator(CARD)).to_have_count(0)
    expect(page.locator(".head .name")).to_have_count(3)  # On a phone each stands above its own answers.
    assert watched.problems == []


@pytest.mark.long
def test_the_person_does_it_and_a_reload_goes_on(app: str, watch: Any) -> None:
    page = watch().open(app)
    card = begin_tour(page)
    aimed(page).click()
    expect(page.locator(".st-key-line-forking")).to_be_visible()
    expect(card.locator(".what")).to_contain_text("Ask something here")
    page.reload()
    settled(page)
    at(page, "Branch")
    aimed(page).click()
    page.locator(DRAFT).fill("How much memory does zstd need?")
    page.locator("[class*=st-key-chat-send-] button:visible").click()
    at(page, "Bring back")
    expect(card.locator(".happened")).to_contain_text("new branch")
    aimed(page).click()
    page.locator(".st-key-merge-land button:visible").click()
    at(page, "Undo")
    page.locator(".st-key-merge-undo button:visible").click()
    at(page, "Look at an experiment")


@pytest.mark.long
def test_it_is_left_by_escape_and_taken_again_from_the_palette(app: str, watch: Any) -> None:
    page = watch().open(app)
    begin_tour(page)
    page.keyboard.press("Escape")
    expect(page.locator(CARD)).to_have_count(0)
    expect(page.locator("[data-tour]")).to_have_count(0)
    page.reload()
    settled(page)
    expect(page.locator(CARD)).to_have_count(0)
    page.keyboard.press("Control+k")
    page.keyboard.type("Take the tour")
    page.keyboard.press("Enter")
    at(page, "Branch")
    page.locator(CARD).get_by_role("button", name="Leave").click()
    expect(page.locator(CARD)).to_have_count(0)


@pytest.mark.long
def test_it_is_heard_and_done_by_keyboard_alone(app: str, watch: Any) -> None:
    page = watch().open(app)
    card = begin_tour(page)
    expect(card.get_by_role("heading")).to_be_focused()
    expect(page.get_by_role("region", name="Tour")).to_be_visible()
    expect(card.get_by_role("status")).to_contain_text("Press Branch")
    page.keyboard.press("Tab")
    expect(card.get_by_role("button", name="Do it for me")).to_be_focused()
    page.keyboard.press("Enter")
    at(page, "Bring back")
    expect(card.get_by_role("status")).to_contain_text("on a new branch")
    expect(card.get_by_role("button", name="Do it for me")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-chat-bring_back button:visible").first).to_be_focused()


@pytest.mark.long
def test_it_leads_back_from_another_conversation(app: str, watch: Any) -> None:
    page = watch().open(app)
    card = begin_tour(page)
    page.locator(".fk-chats-new").click()
    expect(page.locator(".st-key-chat-starters")).to_be_visible()
    card.get_by_role("button", name="Go back there").click()
    expect(page.locator(".st-key-line-ready")).to_be_visible()
    at(page, "Branch")
